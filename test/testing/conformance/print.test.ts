import { stripVTControlCharacters } from "node:util";
import { type CheckResult, type ConformanceReport, printConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";

const check = { title: "holds", protects: "it does not work", resource: undefined, duration: 1 };

const report: ConformanceReport = {
  url: "https://example.dev",
  serverVersion: "v1.37.0",
  resources: ["notes.v1.example.dev", "pods.v1"],
  results: [
    { ...check, id: "T1.1", resource: "notes.v1.example.dev", outcome: "passed" },
    {
      ...check,
      id: "T1.1",
      resource: "pods.v1",
      outcome: "failed",
      failure: { request: "GET https://example.dev/x", expected: "200", actual: "404" },
    },
    { ...check, id: "T1.2", resource: "notes.v1.example.dev", outcome: "skipped", reason: "needs an object" },
    { ...check, id: "T1.2", resource: "pods.v1", outcome: "skipped", reason: "needs an object" },
    { ...check, id: "E1", outcome: "skipped", reason: "no credentials" },
    { ...check, id: "W1", outcome: "passed" },
  ],
  passed: 2,
  failed: 1,
  disturbed: 0,
  skipped: 3,
  left: [],
  duration: 1234,
};

describe("printConformance", () => {
  it("prints a line for each check, with failures and skipped resources", () => {
    expect(printConformance(report)).to.equal(`https://example.dev (v1.37.0)
notes.v1.example.dev, pods.v1

T1 WatchList
  ✗ T1.1 holds
      else: it does not work
      pods.v1: GET https://example.dev/x
        expected 200
        got      404
  - T1.2 holds
      skipped, notes.v1.example.dev, pods.v1: needs an object

E errors
  - E1 holds
      skipped, no credentials

W watches
  ✓ W1 holds

2 passed, 1 failed, 3 skipped in 1.2 s
`);
  });

  it("prints one line for a group of checks that were skipped for the same reason", () => {
    const skipped = { ...check, outcome: "skipped", reason: "it writes" } as const;
    const results: CheckResult[] = [
      { ...skipped, id: "V1" },
      { ...skipped, id: "V2", resource: "a.v1" },
      { ...skipped, id: "W1" },
      { ...skipped, id: "W2", reason: "another" },
    ];
    const text = printConformance({ ...report, results });
    expect(text).to.include("\nV writes\n  - 2 checks\n      skipped: it writes\n\nW watches\n  - W1 holds\n");
  });

  it("names the write of another client that disturbed a check, and the failure", () => {
    const failure = { request: "PUT https://example.dev/x", expected: "200", actual: "409" };
    const reason = "another client wrote pods.v1 a, by kubectl";
    const results: CheckResult[] = [{ ...check, id: "V7", resource: "pods.v1", outcome: "disturbed", reason, failure }];
    const text = printConformance({ ...report, results, failed: 0, disturbed: 1 });
    expect(text).to.include(
      `! V7 holds\n      disturbed: ${reason}\n      pods.v1: PUT https://example.dev/x\n        expected 200\n        got      409\n`,
    );
    expect(text).to.include("2 passed, 0 failed, 1 disturbed, 3 skipped in");
  });

  it("names objects that were not deleted", () => {
    const left = ["pods.v1 default/conformance-1", "notes.v1.example.dev b"];
    expect(printConformance({ ...report, left })).to.include(
      "\nnot deleted, delete by hand: pods.v1 default/conformance-1, notes.v1.example.dev b\n",
    );
  });

  it("uses colors on request", () => {
    const text = printConformance(report, { color: true });
    expect(text).to.include("\u001b[31m✗\u001b[0m T1.1").and.to.include("\u001b[32m✓\u001b[0m W1");
    expect(stripVTControlCharacters(text)).to.equal(printConformance(report));
  });

  it("counts resources when there are many, and accepts a report without any", () => {
    const many = Array.from(
      { length: 4 },
      (_, at): CheckResult => ({ ...check, id: "T1.1", resource: `r${at}.v1`, outcome: "skipped", reason: "why" }),
    );
    expect(printConformance({ ...report, results: many })).to.include("skipped, 4 resources: why");
    expect(printConformance({ ...report, serverVersion: "", resources: [], results: [] })).to.match(
      /^https:\/\/example.dev\nno resources to check\n/,
    );
  });
});
