"""TAU: own time, calls and user events of profile.N.C.T; call paths where there are any, else the flat entries."""
import re

FILES = ["elsewhere/tau/*"]
EXAMPLES = ["tau"]
ENTRY = re.compile(r'"(.*)" (\S+) (\S+) (\S+) (\S+) (\S+) GROUP="(.*)"')


def found(folder):
    files = sorted(folder.rglob("profile.*.*.*"))
    own, whole, calls, locations = 0.0, 0.0, 0.0, set()
    for path in files:
        locations.add(path.name)
        entries = [ENTRY.match(line) for line in path.read_text(errors="replace").splitlines()]
        entries = [one for one in entries if one and "TAU_PARAM" not in one[7]]
        paths = [one for one in entries if "=>" in one[1]]
        top = {one[1].split("=>")[0].strip() for one in paths}
        used = paths + [one for one in entries if one[1].strip() in top] if paths else entries
        own += sum(float(one[4]) for one in used)
        whole += sum(float(one[5]) for one in used)
        calls += sum(float(one[2]) for one in used)
    return {"locations": len(locations), "exclusive sum of TIME": own, "scope inclusive sum of TIME": whole, "exclusive sum of visits": calls}
