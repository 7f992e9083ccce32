// Terminals, logs and ports of pods through a front proxy, by the real kubectl: in a mounted workspace, and at a path that
// leads to the cluster.
import { expect } from "chai";
import { Front } from "../cli/support/front.ts";
import { kubectls, needsKubectl } from "../e2e/support/kubectls.ts";
import { startBehindPath } from "./support/behind-path.ts";
import { building } from "./support/build.ts";
import { type KubectlHome, startKubectl } from "./support/kubectl.ts";
import { MOUNTING, Mounting } from "./support/mounting.ts";
import { expectStreams, PROTOCOLS, piped } from "./support/streams.ts";
import { Target } from "./support/target.ts";

const own = (): string => kubectls()[0] ?? "";
const PLACES = {
  "a mounted workspace": "/clusters/root:pods",
  "a link to it": "/clusters/root:link",
  "a path": "/services/pods",
} as const;

describe("pods through a front proxy", function () {
  this.timeout(120_000);
  const running = new AsyncDisposableStack();
  let front: Front;
  let pods: Target;

  before(async function () {
    needsKubectl.call(this);
    await building("target").call(this);
    pods = running.use(await Target.start());
    const users = "admin-token,admin,1,system:kcp:admin\nbob-token,bob,2\n";
    const { url: backend, ca } = running.use(await startBehindPath("pods", pods.url));
    const mapping = [{ path: "/services/pods", backend, ca }];
    front = running.use(await Front.ready({ flags: MOUNTING, users, mapping }));
    // The front proxy's end stops it.
    const mounting = await Mounting.at(front.server);
    await mounting.mountSecret("pods", pods.url);
    await mounting.mount("link", { type: "Workspace", path: "root:pods" });
  });
  after(() => running.disposeAsync());

  for (const [protocol, env] of Object.entries(PROTOCOLS))
    for (const [where, path] of Object.entries(PLACES))
      it(`forward exec, attach and port-forward to ${where}, over ${protocol}`, async () => {
        const before = pods.upgrades.length;
        await expectStreams(own(), front.in(path, "admin-token", env));
        const came = pods.upgrades.slice(before);
        expect(came.map(({ user }) => user)).to.deep.equal(["admin", "admin", "admin", "admin"]);
        for (const { upgrade } of came) expect(upgrade).to.match(new RegExp(protocol, "i"));
      });

  it("follow logs, and the cluster notices when kubectl exits", async () => {
    pods.log("one");
    const homes: readonly KubectlHome[] = Object.values(PLACES).map((path) => front.in(path, "admin-token"));
    for (const home of homes) {
      const before = pods.events.length;
      await using follow = startKubectl(own(), home, ["logs", "-f", "running"]);
      await follow.until("a line", () => follow.lines.includes("one"));
      follow.signal("SIGKILL");
      await pods.event("over", (event) => pods.events.indexOf(event) >= before && event["path"].endsWith("/log"));
    }
  });

  it("give an unauthenticated user no terminal, and no user another's", async () => {
    const says = (token: string) =>
      piped(own(), front.in("/clusters/root:pods", token), { args: ["exec", "running", "--", "say", "hello"] });
    const before = pods.events.length;
    const stranger = await says("nobody-token");
    expect(stranger.code).to.equal(1);
    expect(stranger.stderr).to.include("You must be logged in to the server");
    expect(pods.events.length).to.equal(before);
    expect(await says("bob-token")).to.include({ code: 0 });
    expect(pods.upgrades.at(-1)).to.include({ user: "bob" });
  });
});
