"""Runs an SMT-LIB file through cvc5's Python module: DIRECTORY [options] FILE, as the cvc5 program would."""
import os
import sys


def main(directory, arguments):
    sys.path.insert(0, directory)
    import cvc5

    path, options = None, []
    for argument in arguments:
        if argument == "--version":
            version = cvc5.Solver().getVersion()
            print("This is cvc5 version %s" % (version.decode() if isinstance(version, bytes) else version))
            return 0
        if argument == "-i":
            options.append(("incremental", "true"))
        elif argument == "-q":
            options.append(("verbosity", "-1"))
        elif argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            if not equals and name.startswith("no-"):
                name, value = name[3:], "false"
            elif not equals:
                value = "true"
            if name not in ("lang", "input-language"):
                options.append((name, value))
        elif path is None:
            path = argument
        else:
            return refuse("Too many input files specified.")
    if path is None:
        return refuse("no input file")

    solver = cvc5.Solver()
    if all(name != "incremental" for name, _ in options):
        options.append(("incremental", "false"))
    for name, value in options:
        try:
            solver.setOption(name, value)
        except RuntimeError as error:
            return refuse(str(error))
    parser = cvc5.InputParser(solver)
    parser.setFileInput(cvc5.InputLanguage.SMT_LIB_2_6, path)
    symbols = parser.getSymbolManager()
    while True:
        doing = "Parse Error: "
        try:
            command = parser.nextCommand()
            if command.isNull():
                return 0
            name = command.getCommandName()
            if name == "exit":
                return 0
            doing = ""
            answer = command.invoke(solver, symbols)
        except RuntimeError as error:
            say('(error "%s%s")\n' % (doing, str(error).rstrip()))
            return 1
        answer = answer.decode() if isinstance(answer, bytes) else str(answer)
        say(answer)
        # An error of a question can be recovered from; any other ends the run.
        if answer.startswith("(error ") and not name.startswith("get-"):
            return 1


def say(text):
    if text:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()


def refuse(message):
    sys.stderr.write('(error "%s")\n' % message)
    return 1


code = main(sys.argv[1], sys.argv[2:])
sys.stdout.flush()
sys.stderr.flush()
# Without the interpreter's teardown, in which some releases crash.
os._exit(code)
