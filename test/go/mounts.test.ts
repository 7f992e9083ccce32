// Workspaces that are mounted on API servers written in Go, by the real kubectl: one with pods, and Kubernetes' own server of
// custom resources.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { KINDS } from "../differential/kinds.ts";
import { startOracle } from "../differential/oracle.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { building } from "./support/build.ts";
import { startFront } from "./support/front.ts";
import { kubectl, startKubectl } from "./support/kubectl.ts";
import { Mounting } from "./support/mounting.ts";
import { expectStreams, PROTOCOLS } from "./support/streams.ts";
import { Target } from "./support/target.ts";

const own = (): string => kubectls()[0] ?? "";

describe("mounted workspaces, by kubectl", function () {
  this.timeout(120_000);
  const running = new AsyncDisposableStack();
  let mounting: Mounting;
  let pods: Target;

  before(async function () {
    needsKubectl.call(this);
    for (const program of ["target", "oracle"]) await building(program).call(this);
    mounting = running.use(await Mounting.start());
    pods = running.use(await Target.start());
    await mounting.mountSecret("pods", pods.url);
    await mounting.mount("link", { type: "Workspace", path: "root:pods" });
    await mounting.mount("moved", { type: "Redirect", path: "root:pods" });
  });
  after(() => running.disposeAsync());

  const says = (name: string, ...args: readonly string[]) => kubectl(own(), mounting.in(name), args);

  for (const [protocol, env] of Object.entries(PROTOCOLS))
    for (const name of ["pods", "link"])
      it(`forward exec, attach and port-forward through ${name} over ${protocol}, as the caller`, async () => {
        const before = pods.upgrades.length;
        await expectStreams(own(), mounting.in(name, env));
        const came = pods.upgrades.slice(before);
        expect(came).to.have.length(4);
        for (const { user, upgrade } of came) {
          expect(user).to.equal("kcp-admin");
          expect(upgrade).to.match(new RegExp(protocol, "i"));
        }
      });

  it("follow logs through all of them", async () => {
    pods.log("one");
    for (const name of ["pods", "link", "moved"]) {
      await using follow = startKubectl(own(), mounting.in(name), ["logs", "-f", "running"]);
      await follow.until("a line", () => follow.lines.includes("one"));
    }
    expect(await says("moved", "get", "pod", "running", "-o", "name")).to.include({ code: 0, stdout: "pod/running" });
  });

  it("list, write and watch Kubernetes' own server of custom resources", async () => {
    await using oracle = await startOracle(KINDS);
    await using front = await startFront(oracle, "oracle.dev");
    await mounting.mountSecret("oracle", front.url, { identity: { type: "None" } });
    const file = join(mounting.server.folder.path, "card.json");
    const card = { apiVersion: "oracle.dev/v1", kind: "Plain", metadata: { name: "one" }, spec: {} };
    writeFileSync(file, JSON.stringify(card));
    const { stdout, stderr } = await says("oracle", "api-resources", "-o", "name");
    expect(stdout.split("\n"), stderr).to.include("plains.oracle.dev");
    await using watch = startKubectl(own(), mounting.in("oracle"), ["get", "plains", "-w", "-o", "name"]);
    expect(await says("oracle", "create", "-f", file)).to.include({ code: 0 });
    await watch.until("the object", () => watch.lines.some((line) => line.endsWith("/one")));
    expect(await says("oracle", "delete", "plain", "one")).to.include({ code: 0 });
  });

  it("answer 503 to every caller until an absent target returns, and end open streams", async () => {
    const other = await Target.start();
    await mounting.mountSecret("frail", other.url);
    other.log("one");
    await using follow = startKubectl(own(), mounting.in("frail"), ["logs", "-f", "running"]);
    await follow.until("a line", () => follow.lines.length === 1);
    const codes = new Set<number>();
    const over = new AbortController();
    const token = mounting.server.token("kcp-admin");
    const path = "/clusters/root:frail/api/v1/namespaces/default/pods";
    const load = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!over.signal.aborted) codes.add((await mounting.server.get(path, { token })).code);
      }),
    );
    await other.kill();
    await follow.ended;
    await mounting.turned("frail", "Unavailable");
    const refused = await mounting.server.get(path, { token });
    expect(refused.body).to.match(/the workspace root:frail is mounted on Mount \\"frail\\", which is not ready/);
    await using again = await Target.start();
    await mounting.secret("frail", again.url);
    await mounting.turned("frail", "Ready");
    expect(await says("frail", "get", "pod", "running", "-o", "name")).to.include({ code: 0, stdout: "pod/running" });
    over.abort();
    await load;
    expect([...codes].sort()).to.deep.equal([200, 503]);
  });
});
