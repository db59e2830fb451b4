//! The files that start workers.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::have;
use testkit::postgres::{self, PASSWORD};

use yaml_rust2::{Yaml, YamlLoader};

use super::common::{not_allowed, text};
use super::*;

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(deploy(name)).unwrap_or_else(|error| panic!("deploy/{name}: {error}"))
}

fn manifest() -> Yaml {
    let documents = YamlLoader::load_from_str(&read("kubernetes.yaml")).expect("YAML");
    assert_eq!(documents.len(), 1);
    documents.into_iter().next().expect("a document")
}

#[test]
fn the_manifest_is_a_job_whose_secrets_and_volumes_are_there() {
    let job = manifest();
    assert_eq!((job["apiVersion"].as_str(), job["kind"].as_str()), (Some("batch/v1"), Some("Job")));
    let pod = &job["spec"]["template"]["spec"];
    let worker = &pod["containers"][0];
    // The secret is made by the command at the top, with the keys that are asked for.
    let text = read("kubernetes.yaml");
    let comment: String = text.lines().take_while(|line| line.starts_with('#')).collect();
    let mut named = Vec::new();
    for variable in worker["env"].as_vec().expect("variables") {
        let secret = &variable["valueFrom"]["secretKeyRef"];
        let (name, key) =
            (secret["name"].as_str().expect("a secret"), secret["key"].as_str().expect("a key"));
        assert!(comment.contains(&format!("create secret generic {name} ")), "{comment}");
        assert!(comment.contains(&format!("--from-literal={key}=")), "{key}: {comment}");
        named.push(variable["name"].as_str().expect("a name"));
    }
    assert_eq!(named, ["OSPREY_STORE", "PGPASSWORD"]);
    let volume = &worker["volumeMounts"][0];
    assert_eq!(volume["name"], pod["volumes"][0]["name"]);
    // Journal and solvers are in the volume, which outlives the container.
    let mount = volume["mountPath"].as_str().expect("a path");
    let command = worker["command"][2].as_str().expect("a command");
    assert!(command.contains(&format!("--out {mount}/")), "{command}");
    assert!(read("Containerfile").contains(&format!("ENV OSPREY_HOME={mount}/")));

    // Kubernetes' own program reads it into its own types, which drops what they do not have.
    let typed = Command::new("kubectl")
        .args(["label", "--local", "--output=yaml", "--filename"])
        .arg(deploy("kubernetes.yaml"))
        .arg("read=yes")
        .env("KUBECONFIG", "/dev/null")
        .output();
    match typed {
        Err(error) => not_allowed("kubectl", error),
        Ok(typed) => {
            assert!(typed.status.success(), "{}", super::text(&typed));
            let typed = YamlLoader::load_from_str(&String::from_utf8_lossy(&typed.stdout)).expect("YAML");
            assert_part("the manifest", &job, &typed[0]);
        }
    }
}

/// Everything in one is in the other.
fn assert_part(place: &str, part: &Yaml, whole: &Yaml) {
    match part {
        Yaml::Hash(parts) => {
            for (name, part) in parts {
                let name = name.as_str().expect("a name");
                assert_part(&format!("{place}.{name}"), part, &whole[name]);
            }
        }
        Yaml::Array(parts) => {
            for (number, part) in parts.iter().enumerate() {
                assert_part(&format!("{place}[{number}]"), part, &whole[number]);
            }
        }
        part => assert_eq!(part, whole, "{place}"),
    }
}

#[test]
fn the_command_of_the_manifest_joins_the_campaign() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, schema)) = (Setup::new(), address(server));
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h"]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", 1);
    // As it is, but for the folder of the volume.
    let job = manifest();
    let worker = &job["spec"]["template"]["spec"]["containers"][0];
    let mount = worker["volumeMounts"][0]["mountPath"].as_str().expect("a path");
    let words =
        worker["command"].as_vec().expect("a command").iter().map(|word| word.as_str().expect("a word"));
    let words: Vec<String> = words
        .map(|word| word.replace(&format!("{mount}/"), &format!("{}/", setup.place.path("volume"))))
        .collect();
    std::fs::create_dir_all(setup.place.path("volume")).expect("a folder");
    let programs = Path::new(env!("CARGO_BIN_EXE_osprey")).parent().expect("a folder");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env("PATH", path).env("OSPREY_STORE", &store).env("PGPASSWORD", PASSWORD);
    let command = started(command);
    let begun = Instant::now();
    while number(server, &schema, "SELECT count(*) FROM deliveries") < 2 {
        assert!(begun.elapsed() < PATIENCE, "the worker has delivered nothing");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(Path::new(&setup.place.path("volume/worker/journal")).is_file());
    signal(&owner, "-INT");
    assert_eq!(ended(owner).status.code(), Some(10));
    let output = ended(command);
    assert_eq!(output.status.code(), Some(0), "findings are no failure of a job: {}", text(&output));
}

#[test]
fn the_container_recipe_builds_programs_that_there_are_and_copies_nothing_else() {
    let recipe = read("Containerfile");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let steps: Vec<&str> = recipe.lines().filter(|line| !line.starts_with('#')).collect();
    let step = |word: &str| steps.iter().filter(|line| line.starts_with(word)).copied().collect::<Vec<_>>();
    assert_eq!(step("FROM").len(), 2);
    // The packages that are built are of this workspace, and their programs are those that are copied.
    let build = *step("RUN").first().expect("a build");
    let words: Vec<&str> = build.split_whitespace().collect();
    let packages = words.windows(2).filter(|two| two[0] == "-p").map(|two| two[1]);
    let mut made = BTreeSet::new();
    for package in packages {
        let folder = root.join("crates").join(package);
        assert!(folder.join("Cargo.toml").is_file(), "{package}");
        if folder.join("src/main.rs").is_file() {
            made.insert(package.to_owned());
        }
        for program in std::fs::read_dir(folder.join("src/bin")).into_iter().flatten().flatten() {
            made.insert(program.path().file_stem().expect("a name").to_string_lossy().into_owned());
        }
    }
    let copy = step("COPY --from=build");
    let copied =
        copy.iter().flat_map(|line| line.split_whitespace()).filter_map(|word| word.rsplit_once("/release/"));
    let copied: BTreeSet<String> = copied.map(|(_, name)| name.to_owned()).collect();
    assert_eq!(copied, made);
    assert_eq!(copied, BTreeSet::from(["osprey".to_owned(), "osprey-launcher".to_owned()]));
    // What is built outside stays outside: gigabytes, and not for the image's system.
    let left_out = std::fs::read_to_string(root.join(".dockerignore")).expect("a list");
    assert!(left_out.lines().any(|line| line == "target") && left_out.lines().any(|line| line == ".git"));
    assert_eq!(steps.last(), Some(&"ENTRYPOINT [\"osprey\"]"));
}

#[test]
fn a_job_array_of_slurm_joins_the_campaign() {
    if !have(&["z3@5.4.0"]) {
        return;
    }
    for program in ["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"] {
        if !Path::new(program).is_file() {
            testkit::skip("Slurm", format!("{program} is not there; `.ci/servers` installs it"));
            return;
        }
    }
    let Some(server) = postgres::postgres() else { return };
    let (setup, (store, schema)) = (Setup::new(), address(server));
    let mut owner = setup.fuzz("owner", &["--store", &store, "--time", "1h"]);
    owner.env("PGPASSWORD", PASSWORD);
    let owner = started(owner);
    setup.until_counted("owner", 1);
    // Two tasks of the script as it is, which ends when the owner is told to end.
    let wait = "id=$(sbatch --parsable --array=1-2 --cpus-per-task=1 --mem-per-cpu=0 --output=/dev/null \"$1\"); \
        for i in $(seq 600); do [ $(ls \"$OSPREY_OUT\" 2>/dev/null | wc -l) = 2 ] && break; sleep 0.2; done; \
        until [ -s \"$OSPREY_OUT/array-$id-1/journal\" ] && [ -s \"$OSPREY_OUT/array-$id-2/journal\" ]; do sleep 0.2; done; \
        sleep 8; kill -INT \"$2\"; while squeue --noheader | grep -q .; do sleep 0.2; done; \
        scontrol show job \"$id\" | grep -o 'JobState=[A-Z]*\\|ExitCode=[0-9:]*'";
    let cluster = Command::new(deploy("test/slurm-cluster"))
        .arg(setup.place.path("slurm"))
        .args(["timeout", "200", "bash", "-c", wait, "bash"])
        .arg(deploy("slurm.sh"))
        .arg(owner.id().to_string())
        .env("OSPREY_STORE", &store)
        .env("OSPREY", env!("CARGO_BIN_EXE_osprey"))
        .env("OSPREY_OUT", setup.place.path("array"))
        .env("PGPASSWORD", PASSWORD)
        .current_dir(setup.place.all())
        .output()
        .expect("the cluster starts");
    let said = text(&cluster);
    signal(&owner, "-INT");
    ended(owner);
    assert_eq!(said.matches("JobState=COMPLETED").count(), 2, "{said}");
    assert_eq!(said.matches("ExitCode=0:0").count(), 2, "{said}");
    assert!(number(server, &schema, "SELECT count(*) FROM deliveries") >= 3, "{said}");
}
