// Spaces that are processes on this machine: started, restarted and stopped, without an effect on other processes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type PhysicalSpace, processesProvider, type SpaceAccess } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { localNode } from "../../../tools/install.mjs";
import { MAP } from "./support/management.ts";
import { CALL, ProcessSpaces } from "./support/processes.ts";

/** A program that serves nothing and ignores SIGTERM. */
const stubborn = (): [string, ...string[]] => [
  localNode,
  "-e",
  'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1e6)',
];

/** A program that writes a kubeconfig and serves nothing. */
const saying = (kubeconfig: object) => (): [string, ...string[]] => {
  const text = JSON.stringify(JSON.stringify(kubeconfig));
  return [localNode, "-e", `fs.writeFileSync("admin.kubeconfig", ${text}); setInterval(() => undefined, 1e6)`];
};

const serverOf = ({ external = "" }: SpaceAccess): { readonly url: URL; readonly token: string } => {
  const { clusters, users } = JSON.parse(external);
  return { url: new URL(clusters[0].cluster.server), token: users[0].user.token };
};

const failure = (error: unknown): string => String((error as Error).message);

describe("spaces that are processes", function () {
  this.timeout(60_000);

  it("keep their data and their kubeconfig when they are killed and restarted", async () => {
    await using spaces = new ProcessSpaces();
    const provider = await spaces.open();
    await provider.create("shop");
    await provider.create("shop");
    const first = await provider.ready("shop");
    expect(spaces.started).to.deep.equal([spaces.path("shop", "server")]);
    await using client = await provider.client("shop");
    await client
      .resource(MAP)
      .in("default")
      .create({ metadata: { name: "menu" } });
    spaces.signal("shop", "SIGKILL");
    const fell = await provider.until("shop", (space) => space?.message?.includes("SIGKILL") === true);
    expect(fell).to.deep.equal({
      name: "shop",
      id: first?.id,
      phase: "Initializing",
      accessVersion: first?.accessVersion,
      message: "the process was ended by SIGKILL and is restarted: see the file log of the space",
    });
    const refused = await provider.provider.access("shop", CALL).catch(failure);
    expect(refused).to.equal(fell?.message);
    const second = await provider.ready("shop");
    expect(second?.id).to.equal(first?.id);
    expect(second?.accessVersion).to.equal(first?.accessVersion);
    expect((await client.resource(MAP).in("default").get("menu")).metadata.name).to.equal("menu");
    expect(spaces.logged).to.deep.equal(["the process of a space has ended the process was ended by SIGKILL"]);
    expect(await provider.list()).to.deep.equal([second]);
  });

  it("get another port if theirs is in use when they are started again, and the same credential", async () => {
    await using spaces = new ProcessSpaces();
    const first = await spaces.open({ keep: false });
    await first.create("shop");
    const before = await first.ready("shop");
    const { url, token } = serverOf(await first.provider.access("shop", CALL));
    await first[Symbol.asyncDispose]();
    const occupant = createServer((socket) => void socket.destroy()).listen(Number(url.port), "127.0.0.1");
    await once(occupant, "listening");
    try {
      const second = await spaces.open({ keep: false });
      const isMoved = (space: PhysicalSpace | undefined): boolean =>
        space?.phase === "Ready" && space.accessVersion !== before?.accessVersion;
      const after = await second.until("shop", isMoved);
      expect(after?.id).to.equal(before?.id);
      const moved = serverOf(await second.provider.access("shop", CALL));
      expect(moved.url.port).not.to.equal(url.port);
      expect(moved.token).to.equal(token);
      await using client = await second.client("shop");
      expect((await client.resource(MAP).in("default").list()).items).to.be.an("array");
    } finally {
      occupant.close();
      await once(occupant, "close");
    }
  });

  it("are not ready while they hang, and are ready afterwards", async () => {
    await using spaces = new ProcessSpaces();
    const provider = await spaces.open({ answerWithin: 250 });
    await provider.create("shop");
    const first = await provider.ready("shop");
    spaces.signal("shop", "SIGSTOP");
    const hung = await provider.until("shop", (space) => space?.phase !== "Ready");
    expect(hung?.message).to.equal("the server did not respond to /readyz within 0.25 s");
    spaces.signal("shop", "SIGCONT");
    expect(await provider.ready("shop")).to.deep.equal(first);
    expect(spaces.started).to.have.length(1);
    spaces.signal("shop", "SIGSTOP");
    await provider.until("shop", (space) => space?.phase !== "Ready");
    const pid = spaces.pid("shop");
    await provider.delete("shop");
    expect(() => process.kill(pid, 0), "nobody has the number").to.throw("ESRCH");
    expect(await provider.list()).to.deep.equal([]);
    expect(spaces.logged).to.deep.equal([]);
  });

  it("are deleted with their data even if they ignore SIGTERM, and get another identifier when they are created again", async () => {
    await using spaces = new ProcessSpaces();
    const provider = await spaces.open({ command: stubborn, grace: 50 });
    await provider.create("shop");
    const before = await provider.until("shop", () => spaces.has("shop", "process.json"));
    const pid = spaces.pid("shop");
    await provider.delete("shop");
    expect(() => process.kill(pid, 0)).to.throw("ESRCH");
    expect(readdirSync(spaces.directory)).to.deep.equal([".keeper"]);
    await provider.delete("shop");
    await provider.create("shop");
    expect((await provider.get("shop"))?.id).not.to.equal(before?.id);
  });

  it("show why they do not start, and are retried", async () => {
    await using spaces = new ProcessSpaces();
    const provider = await spaces.open({
      command: (folder) => (folder.includes("none") ? ["/there/is/none"] : [localNode, "-e", "process.exit(3)"]),
    });
    await provider.create("none");
    const none = await provider.until("none", (space) => space?.message?.includes("cannot") === true);
    expect(none?.message).to.equal("cannot start the process: ENOENT: check command of the provider");
    await provider.create("ends");
    const ends = await provider.until("ends", (space) => space?.message?.includes("exit code") === true);
    expect(ends?.message).to.equal(
      "the process ended with exit code 3 and is restarted: see the file log of the space",
    );
    await spaces.startedTimes("ends", 3);
    await provider.delete("none");
    await provider.delete("ends");
    expect(await provider.list()).to.deep.equal([]);
  });

  it("are not reached with a kubeconfig that would run programs, read files, or leads elsewhere", async () => {
    await using spaces = new ProcessSpaces();
    const config = (cluster: object, user: object): object => ({
      "current-context": "it",
      contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
      clusters: [{ name: "it", cluster }],
      users: [{ name: "it", user }],
    });
    const said: readonly (readonly [object, string])[] = [
      [config({ server: "https://127.0.0.1:1" }, { exec: { command: "touch" } }), "exec of the user is not allowed"],
      [config({ server: "https://127.0.0.1:1" }, { tokenFile: "/etc/passwd" }), "tokenFile of the user is not allowed"],
      [config({ server: "no URL" }, { token: "secret" }), "kubeconfig: invalid server URL or certificate authority"],
      [config({ server: "http://127.0.0.1:1" }, { token: "secret" }), "cannot connect to the server"],
    ];
    for (const [kubeconfig, message] of said) {
      await using provider = await spaces.open({ command: saying(kubeconfig) });
      await provider.create("odd");
      const odd = await provider.until("odd", (space) => space?.message?.includes(message) === true);
      expect(odd?.phase).to.equal("Initializing");
      expect(odd?.message).not.to.include("secret");
      await provider.delete("odd");
    }
  });

  it("are in directories for their owner only, which no name leads out of", async () => {
    await using spaces = new ProcessSpaces();
    const provider = await spaces.open({ command: stubborn, grace: 50, most: 2 });
    await provider.create("one");
    await provider.until("one", () => spaces.has("one", "process.json"));
    for (const name of ["", "one", "one/server"])
      expect(statSync(spaces.path(name)).mode & 0o777, name).to.equal(0o700);
    for (const name of [".keeper", "one/space.json", "one/process.json", "one/log"])
      expect(statSync(spaces.path(name)).mode & 0o777, name).to.equal(0o600);
    for (const name of ["..", "../two", "/two", "a/b", ".two", "", "Two", "a\0b", "-"]) {
      expect(await provider.create(name).catch(failure), name).to.match(
        /^metadata.name: invalid name of a directory, /,
      );
      await provider.delete(name);
      expect(await provider.get(name)).to.equal(undefined);
    }
    expect(readdirSync(spaces.folder.path)).to.deep.equal(["spaces"]);
    mkdirSync(spaces.path("mine"));
    writeFileSync(spaces.path("mine", "letters"), "");
    symlinkSync(spaces.path("mine"), spaces.path("link"));
    for (const name of ["mine", "link"])
      expect(await provider.create(name).catch(failure)).to.equal(
        `${name} in the directory of the provider is not a space: move it away`,
      );
    await provider.delete("mine");
    expect(readdirSync(spaces.path("mine"))).to.deep.equal(["letters"]);
    const below = { ...CALL, parent: "root:there" };
    expect(await provider.provider.list(below)).to.deep.equal([]);
    expect(await provider.provider.get("one", below)).to.equal(undefined);
    await provider.provider.delete?.("one", below);
    expect(await provider.provider.create?.("two", below).catch(failure)).to.match(/^the provider has no hierarchy: /);
    await provider.create("two");
    expect(await provider.create("three").catch(failure)).to.equal(
      "the provider has its maximum of 2 processes: delete Spaces, or increase most of the provider",
    );
    expect((await provider.list()).map(({ name }) => name).sort()).to.deep.equal(["one", "two"]);
  });

  it("never signal a process with a reused PID", async () => {
    await using spaces = new ProcessSpaces();
    const innocent = spawn(localNode, ["-e", "setInterval(() => undefined, 1e6)"], { detached: true });
    await once(innocent, "spawn");
    {
      await using provider = await spaces.open({ command: stubborn, grace: 50, keep: false });
      await provider.create("shop");
      await provider.until("shop", () => spaces.has("shop", "process.json"));
    }
    const noted = { pid: innocent.pid, started: "at another time" };
    writeFileSync(join(spaces.path("shop"), "process.json"), JSON.stringify(noted));
    await using provider = await spaces.open({ command: stubborn, grace: 50 });
    await spaces.startedTimes("shop", 2);
    await provider.delete("shop");
    expect([innocent.exitCode, innocent.signalCode]).to.deep.equal([null, null]);
    innocent.kill();
    await once(innocent, "exit");
  });

  it("reject invalid options", () => {
    const options = { directory: "x", command: stubborn };
    for (const [bad, message] of [
      [{ checkEvery: 0 }, "invalid checkEvery of processesProvider: use at least 1 ms"],
      [{ grace: Number.NaN }, "invalid grace of processesProvider: use at least 1 ms"],
      [{ most: 0.5 }, "invalid most of processesProvider: use a number of at least 1"],
      [{ directory: "" }, "empty directory of processesProvider: set the path of a directory"],
    ] as const)
      expect(() => processesProvider({ ...options, ...bad })).to.throw(message);
  });
});
