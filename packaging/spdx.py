#!/usr/bin/env python3
"""What is inside a release, as SPDX 2.3: spdx.py VERSION SOURCES_LIST [NAME VERSION LICENCE]… >FILE

SOURCES_LIST is packaging/sources.list or a part of it, or - for none; further packages follow in threes, _ for a blank
in LICENCE. googletest, which is in no program, is left out. The document has no time of its own: the same list makes the same document.
"""
import hashlib
import json
import sys


def main() -> None:
    if len(sys.argv) < 3 or len(sys.argv) % 3 != 0:
        sys.exit(__doc__)
    version, rows = sys.argv[1], []
    if sys.argv[2] != "-":
        with open(sys.argv[2], encoding="utf-8") as lines:
            rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    found = {}  # the first row of a package is its sources; patches follow
    for name, package_version, licence, sha256, path in rows:
        if name != "googletest":
            found.setdefault(name, (package_version, licence.replace("_", " "), sha256, "http://deb.debian.org/" + path))
    for at in range(3, len(sys.argv), 3):
        name, package_version, licence = sys.argv[at:at + 3]
        found[name] = (package_version, licence.replace("_", " "), None, "NOASSERTION")
    packages = [{"SPDXID": "SPDXRef-headlight", "name": "headlight", "versionInfo": version, "licenseConcluded": "MIT",
                 "licenseDeclared": "MIT", "copyrightText": "NOASSERTION", "downloadLocation": "NOASSERTION",
                 "filesAnalyzed": False}]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                  "relatedSpdxElement": "SPDXRef-headlight"}]
    for name, (package_version, licence, sha256, url) in sorted(found.items()):
        identity = "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name)
        package = {"SPDXID": identity, "name": name, "versionInfo": package_version, "licenseConcluded": licence,
                   "licenseDeclared": licence, "copyrightText": "NOASSERTION", "downloadLocation": url,
                   "filesAnalyzed": False}
        if sha256:
            package["checksums"] = [{"algorithm": "SHA256", "checksumValue": sha256}]
        packages.append(package)
        relations.append({"spdxElementId": "SPDXRef-headlight", "relationshipType": "CONTAINS",
                          "relatedSpdxElement": identity})
    digest = hashlib.sha256(json.dumps(packages, sort_keys=True).encode()).hexdigest()
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
               "name": f"headlight-{version}", "documentNamespace": f"https://spdx.org/spdxdocs/headlight-{digest}",
               "creationInfo": {"created": "1980-01-01T00:00:00Z", "creators": ["Tool: packaging/spdx.py"]},
               "packages": packages, "relationships": relations}, sys.stdout, indent=1)
    print()


main()
