"""Holds Tutti's nccl.h and nccl_device.h against NVIDIA's, name by name.

What there is to compare is read out of the headers themselves, so that nothing can be forgotten: every macro, enumerator,
type, field and function. Generated programs then print what each header makes of it, and the answers must be equal.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

import wheel

PROBE_HEAD = """
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <typeinfo>
#include <type_traits>
#include <cxxabi.h>
#include <{header}>
template <class T> const char* type_name() {{
  return abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr);
}}
inline void print(const char* name, const char* value) {{ std::printf("%s = \\"%s\\"\\n", name, value); }}
inline void print(const char* name, std::nullptr_t) {{ std::printf("%s = NULL\\n", name); }}
template <class T> void print(const char* name, T value) {{
  if constexpr (std::is_floating_point_v<T>) std::printf("%s = %a (%s)\\n", name, double(value), type_name<T>());
  else std::printf("%s = %lld (%s)\\n", name, (long long)(value), type_name<T>());
}}
template <class T> void print_bytes(const char* name, const T& object) {{
  std::printf("%s =", name);
  for (size_t i = 0; i < sizeof object; ++i) std::printf(" %02x", reinterpret_cast<const unsigned char*>(&object)[i]);
  std::printf("\\n");
}}
"""


class Header:
    """One header file, in its include path, as the preprocessor leaves it."""

    def __init__(self, compilers, name, include, origin):
        self.name = name
        self.include = include
        self.origin = origin  # only text from files below this folder counts
        self.compilers = compilers
        self.text = self._own_text()

    def command(self, language="c++", standard="gnu++17"):
        return [self.compilers[language], "-x", language, f"-std={standard}", "-w",
                *(f"-I{folder}" for folder in self.include)]

    def _preprocess(self, *flags):
        command = self.command() + ["-E", *flags, "-"]
        return run(command, input=f"#include <{self.name}>\n").stdout

    def _own_text(self):
        own, kept = False, []
        for line in self._preprocess().splitlines():
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                own = marker.group(1).startswith(str(self.origin))
            elif own:
                kept.append(line)
        text = "\n".join(kept)
        return re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)

    def macros(self):
        """Object-like macros of NCCL's that have a value."""
        found = re.findall(r"^#define (NCCL_\w+)(?:[ ](.*))?$", self._preprocess("-dM"), re.M)
        return sorted(name for name, value in found if value.strip() and not value.strip().startswith("{"))

    def initializers(self):
        found = re.findall(r"^#define (NCCL_\w+) \{.*sizeof\((\w+)\)", self._preprocess("-dM"), re.M)
        return sorted(found)

    def enumerators(self):
        bodies = re.findall(r"enum\s*\w*\s*\{([^}]*)\}", self.text)
        return sorted(name for body in bodies for name in re.findall(r"(\w+)\s*=", body))

    def structs(self):
        """{type: [field, ...]} of every complete struct."""
        result = {}
        for tag, body, alias in re.findall(r"struct\s*(\w*)\s*\{([^{}]*)\}\s*(\w*)\s*;", self.text):
            fields = []
            for declaration in filter(None, (part.strip() for part in body.split(";"))):
                for declarator in declaration.split(","):
                    fields.append(re.findall(r"\w+", re.sub(r"\[.*?\]", "", declarator))[-1])
            result[alias or tag] = fields
        return result

    def types(self):
        named = re.findall(r"typedef\s+[^;{}()]*?(\w+)\s*;", self.text)
        named += re.findall(r"typedef\s+(?:enum|struct)\s*\w*\s*\{[^{}]*\}\s*(\w+)\s*;", self.text)
        return sorted(set(named) - {"cudaStream_t"})

    def functions(self):
        return sorted(set(re.findall(r"\b(p?nccl\w+)\s*\(", self.text)))


def run(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nfailed:\n{result.stdout}{result.stderr}")
    return result


def facts(header, body, work):
    """The lines that a program prints which was compiled against `header`."""
    source = work / "probe.cpp"
    source.write_text(PROBE_HEAD.format(header=header.name) + "int main() {\n" + "\n".join(body) + "\n}\n")
    program = work / "probe"
    run(header.command() + ["-o", str(program), str(source)])
    return run([str(program)]).stdout.splitlines()


def type_probes(header):
    """Size, alignment and fields of every type; incomplete ones are compared by name through their pointers."""
    body = []
    structs = header.structs()
    for name in header.types():
        body.append(f'std::printf("type {name} = %s, %zu bytes, aligned to %zu\\n", type_name<{name}>(), '
                    f"sizeof({name}), alignof({name}));")
    for name, fields in sorted(structs.items()):
        for field in fields:
            body.append(f'std::printf("field {name}.{field} at %zu: %s\\n", offsetof({name}, {field}), '
                        f"type_name<decltype({name}::{field})>());")
    return body


def function_probes(names):
    return [f'std::printf("function {name} = %s\\n", type_name<decltype(&{name})>());' for name in names]


def value_probes(header):
    body = [f'print("macro {name}", {name});' for name in header.macros() if name != "NCCL_COMM_NULL"]
    body += [f'print("enumerator {name}", {name});' for name in header.enumerators()]
    for name, kind in header.initializers():
        body.append(f'{{ static const {kind} object = {name}; print_bytes("initializer {name}", object); }}')
    for version in ("2,8,4", "2,9,0", "2,28,9", "3,0,1", "1,3,5"):
        body.append(f'print("NCCL_VERSION({version})", NCCL_VERSION({version}));')
    return body


def symbols(header, names, work):
    """The symbols that the linker is asked for: says whether the names are mangled."""
    source = work / "references.cpp"
    source.write_text(f"#include <{header.name}>\nvoid* references[] = {{\n" +
                      "".join(f"(void*)&{name},\n" for name in names) + "};\n")
    run(header.command() + ["-c", "-o", str(work / "references.o"), str(source)])
    return sorted(run(["nm", "-u", str(work / "references.o")]).stdout.split())


def c_prototypes(header, work):
    """Every function as the C compiler understands it."""
    source = work / "prototypes.c"
    source.write_text(f"#include <{header.name}>\n")
    out = work / "prototypes.X"
    run(header.command("c", "gnu11") + ["-fsyntax-only", "-aux-info", str(out), str(source)])
    found = re.findall(r"^/\*.*?\*/ extern (.*?\bp?nccl\w+ ?\(.*\));", out.read_text(), re.M)
    return sorted(re.sub(r"\((void|/\* \?\?\? \*/)\)", "()", prototype) for prototype in found)


def compare(what, theirs, ours):
    """Says whether both headers gave the same answers, and prints what differs. No answer at all is a difference."""
    if theirs == ours and theirs:
        print(f"equal: {len(theirs):4d} {what}")
        return True
    print(f"DIFFERENT: {what}")
    print("\n".join(difflib.unified_diff(theirs, ours, "NVIDIA's", "Tutti's", lineterm="", n=0)) or "nothing was found")
    return False


def compare_nccl_h(theirs, ours, work):
    checks = [
        ("names of macros", theirs.macros(), ours.macros()),
        ("names of functions", theirs.functions(), ours.functions()),
        ("names of enumerators", theirs.enumerators(), ours.enumerators()),
        ("names of types", theirs.types(), ours.types()),
        ("values", facts(theirs, value_probes(theirs), work), facts(ours, value_probes(theirs), work)),
        ("types and fields", facts(theirs, type_probes(theirs), work), facts(ours, type_probes(theirs), work)),
        ("signatures in C++", facts(theirs, function_probes(theirs.functions()), work),
         facts(ours, function_probes(theirs.functions()), work)),
        ("symbols", symbols(theirs, theirs.functions(), work), symbols(ours, theirs.functions(), work)),
        ("signatures in C", c_prototypes(theirs, work), c_prototypes(ours, work)),
    ]
    return all([compare(f"{what} of nccl.h", a, b) for what, a, b in checks])


def compare_nccl_device_h(theirs, ours, work):
    """Tutti has the host side only, so its names are what counts; NVIDIA's overloads are told apart by signature."""
    body = type_probes(ours)
    good = compare("types and fields of nccl_device.h", facts(theirs, body, work), facts(ours, body, work))
    names = [name for name in ours.functions() if not name.startswith("p")]
    signatures = facts(ours, function_probes(names), work)
    casts = []
    for line in signatures:
        name, signature = re.match(r"function (\w+) = (.*)", line).groups()
        casts.append(f'{{ using F = {signature}; using G = std::remove_pointer_t<F>; '
                     f"static_assert(std::is_same_v<decltype(static_cast<G*>(&{name})), F>); "
                     f'std::printf("function {name} = %s\\n", type_name<F>()); }}')
    return compare("signatures of nccl_device.h", facts(theirs, casts, work), signatures) and good


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", required=True, help="where wheel.py put NVIDIA's NCCL")
    parser.add_argument("--include", required=True, type=pathlib.Path, help="folder of Tutti's nccl.h")
    parser.add_argument("--cuda-include", required=True, help="folder of CUDA's headers, or of their stand-ins")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--cc", default="cc")
    arguments = parser.parse_args()
    their_include = wheel.find(arguments.cache).resolve() / "include"
    our_include = arguments.include.resolve()

    compilers = {"c++": arguments.cxx, "c": arguments.cc}
    good = True
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for name, check in (("nccl.h", compare_nccl_h), ("nccl_device.h", compare_nccl_device_h)):
            pair = [Header(compilers, name, [root, arguments.cuda_include], root)
                    for root in (their_include, our_include)]
            good = check(*pair, work) and good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
