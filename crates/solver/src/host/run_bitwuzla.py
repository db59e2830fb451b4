"""Runs an SMT-LIB file through Bitwuzla's Python module: DIRECTORY [options] FILE, as the bitwuzla program would."""
import os
import sys


def main(directory, arguments):
    sys.path.insert(0, directory)
    import bitwuzla

    if "--version" in arguments:
        print(getattr(bitwuzla, "__version__", None) or version(directory))
        return 0
    options = bitwuzla.Options()
    switches = [argument for argument in arguments if argument.startswith("-")]
    paths = [argument for argument in arguments if not argument.startswith("-")]
    try:
        options.set_args(*switches)
    except Exception as error:
        return refuse(error)
    if len(paths) != 1:
        return refuse("expected one input file")
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    try:
        parser.parse(paths[0])
    except Exception as error:
        sys.stdout.flush()
        sys.stdout.write('(error "%s")\n' % str(error).replace('"', '""'))
        return 1
    return 0


def refuse(message):
    sys.stderr.write("[bitwuzla] error: %s\n" % message)
    return 1


def version(directory):
    for entry in os.listdir(directory):
        if entry.startswith("bitwuzla-") and entry.endswith(".dist-info"):
            return entry[len("bitwuzla-"):-len(".dist-info")]
    return "unknown"


code = main(sys.argv[1], sys.argv[2:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
