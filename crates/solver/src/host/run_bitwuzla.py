"""Runs an SMT-LIB file through Bitwuzla's Python module: DIRECTORY [options] FILE, as the bitwuzla program would."""
import os
import sys


def main(directory, arguments):
    sys.path.insert(0, directory)
    import bitwuzla

    if "--version" in arguments:
        print(getattr(bitwuzla, "__version__", None) or version(directory))
        return 0
    path, options = None, bitwuzla.Options()
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, equals, value = argument.lstrip("-").partition("=")
            try:
                if equals:
                    options.set(name, value)
                elif name.startswith("no-"):
                    options.set(name[3:], False)
                else:
                    options.set(name, True)
            except Exception as error:
                sys.stderr.write("[bitwuzla] error: %s\n" % error)
                return 1
        elif path is None:
            path = argument
        else:
            sys.stderr.write("[bitwuzla] error: multiple input files\n")
            return 1
    if path is None:
        sys.stderr.write("[bitwuzla] error: no input file\n")
        return 1
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    try:
        parser.parse(path)
    except Exception as error:
        sys.stdout.flush()
        sys.stdout.write('(error "%s")\n' % str(error).replace('"', '""'))
        return 1
    return 0


def version(directory):
    for entry in os.listdir(directory):
        if entry.startswith("bitwuzla-") and entry.endswith(".dist-info"):
            return entry[len("bitwuzla-"):-len(".dist-info")]
    return "unknown"


code = main(sys.argv[1], sys.argv[2:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
