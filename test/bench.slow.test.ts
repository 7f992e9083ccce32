// Why: finds benchmarks that no longer run, and output that no program can read. The list is complete, each benchmark has
// a section in the README, and the quickest prints what it promises.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../tools/install.mjs";
import { run } from "../tools/run.mjs";

const NAMES = [
  ...[
    "admission",
    "agents",
    "apply",
    "audit",
    "auth",
    "bindings",
    "console",
    "create",
    "fairness",
    "fanout",
    "forward-fanout",
    "forward-get",
  ],
  ...[
    "forward-list",
    "front-get",
    "front-workers",
    "get",
    "index",
    "informer",
    "install",
    "lifecycle",
    "list",
    "mount-get",
    "mount-stream",
    "peers",
    "query",
    "quotas",
    "replication",
    "spaces-view",
    "spaces",
    "start-many",
    "start",
    "store-etcd",
    "store",
    "test-server",
    "tunnel",
    "workers",
    "workspaces",
  ],
];
const bench = (...args: string[]): Promise<{ ok: boolean; output: string }> =>
  run(process.execPath, ["--conditions=@virtual-workspaces/source", join(root, "tools/bench.mjs"), ...args]);

describe("npm run bench", () => {
  it("lists every benchmark with its comparison, and the README has its figures", async () => {
    const { output } = await bench();
    const listed = [...output.matchAll(/^ {2}(\S+) +(\S.*)$/gm)].map(([, name]) => name);
    expect(listed).to.deep.equal(NAMES);
    const readme = readFileSync(join(root, "bench/README.md"), "utf8");
    const sections = readme.split("\n### ").slice(1);
    expect(sections.map((section) => section.split("\n", 1)[0]).sort()).to.deep.equal([...NAMES].sort());
    for (const section of sections) expect(section, section.slice(0, 40)).to.match(/^\| (?!measure |---).+\|$/m);
  });

  it("prints one JSON object with --json", async () => {
    const { ok, output } = await bench("start", "--short", "--json");
    expect(ok, output).to.equal(true);
    const { name, figures } = JSON.parse(output) as { name: string; figures: Record<string, unknown>[] };
    expect(name).to.equal("start");
    for (const one of figures) {
      expect(one).to.have.all.keys("what", "value", "unit", "rival", "goal", "met");
      expect(one["value"]).to.be.a("number");
    }
  }).timeout(180_000);

  it("rejects an unknown benchmark", async () => {
    expect(await bench("no-such")).to.include({ ok: false });
  });
});
