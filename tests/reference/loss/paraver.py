"""Paraver: states, values of events (several types and values may share a line) and communications."""
FILES = ["ovni/**/*.prv"]


def found(path):
    states = events = messages = 0
    for line in path.read_text(errors="replace").splitlines():
        fields = line.split(":")
        if fields[0] == "1":
            states += 1
        elif fields[0] == "2":
            events += (len(fields) - 6) // 2
        elif fields[0] == "3":
            messages += 1
    return {"events": states + events + messages, "level events": states + events + 2 * messages, "message": messages}
