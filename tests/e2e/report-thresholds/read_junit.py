"""The suite as a build machine counts it: numbers in the head are those of the cases, elements are in the order of the schemas."""
import sys
import xml.etree.ElementTree as ET

root = ET.parse(sys.argv[1]).getroot()
assert root.tag == "testsuites" and not root.attrib
for suite in root:
    assert [e.tag for e in suite if e.tag != "testcase"] == ["properties", "system-out", "system-err"]
    cases = suite.findall("testcase")
    assert int(suite.get("tests")) == len(cases)
    assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))
    assert {"name", "timestamp", "hostname", "errors", "time", "id", "package"} <= set(suite.attrib)
    for case in cases:
        failure = case.find("failure")
        print(case.get("classname"), "|", case.get("name"), "|", "ok" if failure is None else failure.get("message"))
