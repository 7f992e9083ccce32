// Terminals, logs and ports of pods in a plain cluster, by kubectl through a view that forwards everything.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import { until } from "../_support/until.ts";
import { kubectls } from "../e2e/support/kubectls.ts";
import { building, goProgram } from "./support/build.ts";
import { builtKubectl, type KubectlHome, kubectl, nameOf, startKubectl } from "./support/kubectl.ts";
import { type PassedOn, startPassedOn } from "./support/passed-on.ts";
import { Program } from "./support/program.ts";
import { PortForward, PROTOCOLS, type Protocol, piped, summed } from "./support/streams.ts";

const MiB = 1024 * 1024;
/** Exit code of kubectl after its terminal is cut. Over SPDY, client-go treats every cut as a normal end. */
const CUT = { WebSocket: 1, SPDY: 0 };

/** Returns method, protocol, first offered subprotocol and user of the upgrades at the target. */
const came = ({ target }: PassedOn): unknown[] =>
  target.upgrades.map(({ method, upgrade, protocols, user, groups }) => [
    ...[method, upgrade, protocols[0], user],
    groups?.join(),
  ]);

const ALICE = ["alice", "system:authenticated"];
const COMMANDS = {
  WebSocket: ["GET", "websocket", "v5.channel.k8s.io", ...ALICE],
  SPDY: ["POST", "SPDY/3.1", "v5.channel.k8s.io", ...ALICE],
};
const PORTS = {
  WebSocket: ["GET", "websocket", "SPDY/3.1+portforward.k8s.io", ...ALICE],
  SPDY: ["POST", "SPDY/3.1", "portforward.k8s.io", ...ALICE],
};

/** Returns the environment of kubectl for a protocol. */
const by = (protocol: Protocol, { home }: PassedOn): KubectlHome => ({ ...home, env: PROTOCOLS[protocol] });
const run = (home: KubectlHome, args: readonly string[], input?: Buffer) =>
  piped(builtKubectl(), home, { args, ...(input && { input }) });

const LEAVING = [
  ["the cluster", ({ target }: PassedOn) => target.kill()],
  ["the server in between", ({ server }: PassedOn) => server.close()],
] as const;

/** Starts a kubectl that follows a log, and waits for its first line. */
async function follow({ target, home }: PassedOn): Promise<Program> {
  target.log("one");
  const program = startKubectl(builtKubectl(), home, ["logs", "-f", "running"]);
  await program.until("a line", () => program.lines.length === 1);
  return program;
}

describe("pods through a view", function () {
  this.timeout(60_000);
  before(async function () {
    await building("clients").call(this);
    await building("target").call(this);
  });

  for (const protocol of ["WebSocket", "SPDY"] as const)
    describe(`over ${protocol}`, () => {
      it("exec returns stdout, stderr and the exit code", async () => {
        await using setting = await startPassedOn();
        const home = by(protocol, setting);
        const said = await run(home, ["exec", "running", "--", "say", "out", "err"]);
        expect([said.code, String(said.stdout), said.stderr]).to.deep.equal([0, "out\n", "err\n"]);
        const ended = await run(home, ["exec", "running", "--", "exit", "7"]);
        expect([ended.code, ended.stderr]).to.deep.equal([7, "command terminated with exit code 7\n"]);
        expect(came(setting)).to.deep.equal([COMMANDS[protocol], COMMANDS[protocol]]);
      });

      it("exec takes a large upload completely, and returns it", async () => {
        await using setting = await startPassedOn();
        const bytes = randomBytes(8 * MiB);
        const up = await run(by(protocol, setting), ["exec", "-i", "running", "--", "sum"], bytes);
        expect([up.code, String(up.stdout)], up.stderr).to.deep.equal([0, summed(bytes)]);
        const both = await run(by(protocol, setting), ["exec", "-i", "running", "--", "cat"], bytes);
        expect([both.code, summed(both.stdout)], both.stderr).to.deep.equal([0, summed(bytes)]);
      });

      it("exec with a terminal passes its size, and each new one", async () => {
        await using setting = await startPassedOn();
        const { home, kubeconfig } = setting.home;
        const args = protocol === "SPDY" ? ["-spdy", "size"] : ["size"];
        const env = { HOME: home, KUBECONFIG: kubeconfig };
        await using terminal = new Program(goProgram("target", "terminal"), args, env);
        for (const size of ["80x24", "132x43"]) {
          terminal.say(size);
          await terminal.until(size, () => terminal.lines.at(-1) === `true ${size}`);
        }
        terminal.endInput();
        expect((await terminal.ended).code, terminal.stderr).to.equal(0);
        expect(came(setting)).to.deep.equal([COMMANDS[protocol]]);
      });

      it("attach joins a running container", async () => {
        await using setting = await startPassedOn();
        const home = by(protocol, setting);
        const { code, stdout, stderr } = await run(home, ["attach", "-i", "running"], Buffer.from("hello\n"));
        expect([code, String(stdout)], stderr).to.deep.equal([0, "attached\nhello\n"]);
        expect(came(setting)).to.deep.equal([COMMANDS[protocol]]);
        await setting.target.event("detached");
      });

      it("port-forward carries many connections at once, large data in both directions, and half-closed connections", async () => {
        await using setting = await startPassedOn();
        await using echo = await PortForward.start(builtKubectl(), by(protocol, setting), ["running", 7]);
        const all = [1, 2, 3, 4, 5].map((size) => randomBytes(size * MiB));
        const back = await Promise.all(all.map((bytes) => echo.exchange(bytes)));
        expect(back.map(summed)).to.deep.equal(all.map(summed));
        await using sum = await PortForward.start(builtKubectl(), by(protocol, setting), ["running", 8]);
        for (const bytes of [Buffer.alloc(0), all[2] as Buffer])
          expect(String(await sum.exchange(bytes))).to.equal(summed(bytes));
        expect(came(setting)).to.deep.equal([PORTS[protocol], PORTS[protocol]]);
      });

      it("port-forward reports a port without a listener", async () => {
        await using setting = await startPassedOn();
        await using none = await PortForward.start(builtKubectl(), by(protocol, setting), ["running", 9]);
        expect(await none.exchange(Buffer.from("x")).catch(() => Buffer.alloc(0))).to.have.length(0);
        const { program } = none;
        await program.until("a word about it", () =>
          program.stderr.includes("nothing listens at port 9 of pod running"),
        );
      });

      it("the cluster notices when kubectl exits", async () => {
        await using setting = await startPassedOn();
        const { target } = setting;
        const home = by(protocol, setting);
        await using exec = startKubectl(builtKubectl(), home, ["exec", "-i", "running", "--", "cat"]);
        await using attach = startKubectl(builtKubectl(), home, ["attach", "-i", "running"]);
        await using forward = await PortForward.start(builtKubectl(), home, ["running", 7]);
        const socket = await forward.connect();
        await Promise.all(["running", "attached", "forwarding"].map((event) => target.event(event)));
        for (const program of [exec, attach, forward.program]) program.signal("SIGKILL");
        for (const event of ["ran", "detached", "forwarded"]) await target.event(event);
        for (const { path } of target.upgrades) await target.event("over", (over) => over["path"] === path);
        socket.destroy();
        await until(() => setting.server.server.stats.longRunning <= 0);
      });

      for (const [who, leave] of LEAVING)
        it(`kubectl exits when ${who} exits`, async () => {
          await using setting = await startPassedOn();
          const { target } = setting;
          const home = by(protocol, setting);
          await using exec = startKubectl(builtKubectl(), home, ["exec", "-i", "running", "--", "cat"]);
          await using forward = await PortForward.start(builtKubectl(), home, ["running", 7]);
          const socket = await forward.connect();
          await Promise.all(["running", "forwarding"].map((event) => target.event(event)));
          const closed = once(socket.resume(), "close");
          await leave(setting);
          expect((await exec.ended).code, exec.stderr).to.equal(CUT[protocol]);
          expect((await forward.program.ended).code, forward.program.stderr).to.equal(1);
          socket.destroy();
          await closed;
        });
    });

  it("logs are complete, arrive line by line, and end with the container", async () => {
    await using setting = await startPassedOn();
    const { target, home } = setting;
    for (const line of ["one", "two"]) target.log(line);
    await using followed = startKubectl(builtKubectl(), home, ["logs", "-f", "running"]);
    await followed.until("two lines", () => followed.lines.length === 2);
    const whole = await kubectl(builtKubectl(), home, ["logs", "running"]);
    expect([whole.code, whole.stdout]).to.deep.equal([0, "one\ntwo"]);
    target.log("three");
    await followed.until("a third", () => followed.lines.length === 3);
    target.log("four");
    target.endLog();
    expect((await followed.ended).code, followed.stderr).to.equal(0);
    expect(followed.lines).to.deep.equal(["one", "two", "three", "four"]);
  });

  it("followed logs end at the cluster when kubectl exits", async () => {
    await using setting = await startPassedOn();
    await using followed = await follow(setting);
    followed.signal("SIGKILL");
    await setting.target.event("over", ({ path }) => path.endsWith("/log"));
  });

  for (const [who, leave] of LEAVING)
    it(`followed logs end when ${who} exits, which does not count as their proper end`, async () => {
      await using setting = await startPassedOn();
      await using followed = await follow(setting);
      await leave(setting);
      expect((await followed.ended).code, followed.stderr).to.equal(1);
      expect(followed.lines).to.deep.equal(["one"]);
    });

  for (const file of kubectls())
    it(`${nameOf(file)} of this machine works too, with its preferred protocols`, async () => {
      await using setting = await startPassedOn();
      const bytes = randomBytes(MiB);
      const { code, stdout, stderr } = await piped(file, setting.home, {
        ...{ args: ["exec", "-i", "running", "--", "cat"], input: bytes },
      });
      expect([code, summed(stdout)], stderr).to.deep.equal([0, summed(bytes)]);
      await using sum = await PortForward.start(file, setting.home, ["running", 8]);
      expect(String(await sum.exchange(bytes))).to.equal(summed(bytes));
    });
});
