// `virtual-workspaces dev` from the user's side: a process, a terminal, a kubeconfig, and failures.

import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { run } from "../../tools/run.mjs";
import { needsKubectl } from "../e2e/support/kubectls.ts";
import { kubectl } from "../go/support/kubectl.ts";
import { Dev } from "./support/dev.ts";
import { viewText } from "./support/views.ts";

const ONE = "/services/note/clusters/root/apis/test.dev/v1/notes/one";

describe("virtual-workspaces dev", function () {
  this.timeout(30_000);

  it("prints the URLs of the views, and commands to paste", async function () {
    needsKubectl.call(this);
    await using dev = await Dev.start({ files: { "note.ts": viewText(), "task.ts": viewText({ name: "task" }) } });
    const text = dev.text.replaceAll(dev.folder.path, "<folder>").replaceAll(dev.url, "<url>");
    expect(
      text.replace(/\d+\.\d\d s/, "0.00 s").replace(/#code=[\w-]{43}$/m, "#code=…"),
    ).to.equal(`Ready in 0.00 s: 2 views at <url>

  note  /services/note/clusters/root  notes
  task  /services/task/clusters/root  tasks

export KUBECONFIG=<folder>/state/admin.kubeconfig
Console, for one sign-in as admin within an hour: <url>/console/#code=…

Try:
  kubectl api-resources
  kubectl explain notes --recursive
  kubectl get notes --watch

The current context is dev, with the user admin of the group system:masters. Others, with --context: guest, note, task
The user guest is in no group of its own (only system:authenticated): the context guest shows what your views let such users see.

`);
    const kubeconfig = join(dev.state, "admin.kubeconfig");
    expect(statSync(kubeconfig).mode & 0o777).to.equal(0o600);
    expect(readFileSync(join(dev.state, ".gitignore"), "utf8")).to.equal("*\n");
  });

  it("names the views that are not ready, and serves all the same", async () => {
    const more = 'ready: () => Promise.reject(new Error("no source")),';
    await using dev = await Dev.start({
      files: { "note.ts": viewText(), "task.ts": viewText({ name: "task", more }) },
    });
    expect(dev.lines(/^Ready/)[0]).to.match(/^Ready in \d+\.\d\d s: 2 views at \S+ \(1 not ready yet: task\)$/);
  });

  const red = `authorize: ({ user }) => ({ allowed: user.in("red"), reason: "only red" })`;
  for (const path of ["/clusters/:cluster", "/"])
    it(`suggests commands as another user when the views at ${path} deny the admin`, async function () {
      needsKubectl.call(this);
      const flags = ["--port=0", "--user=bob:red"];
      await using dev = await Dev.start({ files: { "note.ts": viewText({ path, more: red }) }, flags });
      expect(dev.text).to.include("Your views deny the user admin. As the user bob, try:\n");
      const commands = dev.lines(/^ {2}kubectl /).map((line) => line.trim().split(" ").slice(1));
      expect(commands).to.deep.equal([
        ["--context=bob", "api-resources"],
        ["--context=bob", "explain", "notes", "--recursive"],
        ["--context=bob", "get", "notes", "--watch"],
      ]);
      for (const args of commands) {
        const ending = args.filter((arg) => arg !== "--watch");
        expect((await kubectl("kubectl", dev.home, ending)).stdout, args.join(" ")).to.match(/note|first/i);
      }
    });

  it("suggests no command when the views deny the admin, the only user with rights", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText({ more: red }) } });
    expect(dev.lines(/^ {2}kubectl |^Try/)).to.deep.equal([]);
    expect(dev.text).to.include(`
Your views deny the user admin. For a user whom they allow, start with --user=<name>:<group>, and use --context=<name>.
`);
  });

  it("suggests a kind that the admin may read, beside a view that denies the admin", async function () {
    needsKubectl.call(this);
    const no = `authorize: () => ({ allowed: false, reason: "no" })`;
    const files = { "a.ts": viewText({ name: "task", more: no }), "b.ts": viewText() };
    await using dev = await Dev.start({ files });
    expect(dev.text).to.include("Try:\n  kubectl api-resources\n  kubectl explain notes --recursive\n");
  });

  it("prints no warning of Node.js about a package.json without a type", async () => {
    await using dev = await Dev.start({ files: { "package.json": "{}", "note.ts": viewText() } });
    expect(dev.text).to.match(/^Ready in/);
  });

  it("shows all kinds in one context, each view's in its own, and what a guest may see", async function () {
    needsKubectl.call(this);
    const member = `authorize: ({ user }) => user.in("system:masters") ? { allowed: true } : { allowed: false, reason: "no" }`;
    await using dev = await Dev.start({
      files: { "note.ts": viewText(), "task.ts": viewText({ name: "task", more: member }) },
    });
    const names = async (...args: string[]) =>
      (await kubectl("kubectl", dev.home, ["api-resources", "-o", "name", ...args])).stdout.split("\n").sort();
    expect(await names()).to.deep.equal(["notes.test.dev", "tasks.test.dev"]);
    expect(await names("--context", "task")).to.deep.equal(["tasks.test.dev"]);
    expect(await names("--context", "guest", "--cached=false")).to.deep.equal(["notes.test.dev"]);
    expect((await kubectl("kubectl", dev.home, ["get", "tasks", "--context", "guest"])).stderr).to.match(
      /doesn't have a resource type "tasks"/,
    );
  });

  it("has a context for each further user, who is in the given groups", async function () {
    needsKubectl.call(this);
    const red = `authorize: ({ user }) => user.in("red") ? { allowed: true } : { allowed: false, reason: "only red" }`;
    const flags = ["--port=0", "--user=ann:red,blue", "--user", "bob"];
    await using dev = await Dev.start({ files: { "note.ts": viewText({ more: red }) }, flags });
    expect(dev.text).to.match(/, with --context: guest, ann, bob\b/);

    expect((await kubectl("kubectl", dev.home, ["get", "notes", "--context", "ann"])).stdout).to.match(/^NAME/);
    const { code, body } = await dev.get(ONE, "bob");
    expect(code).to.equal(403);
    expect(body).to.match(/only red/);
  });

  it("rejects invalid users", async () => {
    for (const [text, problem] of [
      [":red", "use a name, or a name and its groups, as in ann:red,blue"],
      ["ann:", "use a name, or a name and its groups, as in ann:red,blue"],
      ["admin", "the name admin is in use: choose another one"],
      ["CA:x", "the name CA is in use: choose another one"],
    ] as const) {
      await using dev = new Dev({ files: { "note.ts": viewText() }, flags: ["--user", text] });
      expect((await dev.ended).code).to.equal(2);
      expect(dev.text).to.include(`invalid value "${text}" for --user: ${problem}`);
    }
  });

  it("logs each request as a line, watches when they begin and when they end, and no credentials", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    await dev.get(ONE);
    await dev.get(`${ONE}%0a-x?token=hidden`, "guest");
    await dev.get("/services/note/clusters/root/apis/test.dev/v1/notes?watch=true&timeoutSeconds=1");
    await dev.until(/ends after/);
    const logged = dev.lines(/^\d\d:/).map((line) => line.replace(/^\S+ |\d+\.\d+/g, ""));
    expect(logged).to.deep.equal([
      `GET ${ONE} admin 200  ms`,
      `GET ${ONE}%0a-x guest 404  ms`,
      "WATCH /services/note/clusters/root/apis/test.dev/v1/notes admin 200 begins",
      "WATCH /services/note/clusters/root/apis/test.dev/v1/notes admin 200 ends after  s",
    ]);
  });

  it("logs nothing with --quiet, and rejects unknown users", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() }, flags: ["--port", "0", "--quiet"] });
    expect((await dev.get(ONE)).code).to.equal(200);
    expect((await dev.get(ONE, "nobody")).code).to.equal(401);
    await dev.end("SIGINT");
    expect(dev.lines(/^\d\d:/)).to.deep.equal([]);
  });

  it("uses the next free port, and prints it", async () => {
    await using taken = await takenPort();
    await using dev = await Dev.start({ files: { "note.ts": viewText() }, flags: ["--port", String(taken.port)] });
    expect(new URL(dev.url).port).not.to.equal(String(taken.port));
    expect(dev.text).to.match(new RegExp(`^Port ${taken.port} is taken: using ${new URL(dev.url).port}.\\n`));
    expect((await dev.get(ONE)).code).to.equal(200);
  });

  it("names the holder of the folder on a second start, and takes over the folder of a killed process", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() } });
    const second = { paths: [dev.folder.path], state: dev.state };
    await using refused = new Dev(second);
    expect((await refused.ended).code).to.equal(1);
    expect(refused.text).to.match(new RegExp(`is in use by process ${dev.pid}, which serves at ${dev.url} since 20`));

    await dev.end("SIGKILL");
    expect(existsSync(join(dev.state, "lock"))).to.equal(true);
    await using heir = await Dev.start(second);
    expect((await heir.get(ONE)).code).to.equal(200);
  });

  it("prints curl commands that work without kubectl", async () => {
    await using dev = await Dev.start({ files: { "note.ts": viewText() }, path: "/nowhere" });
    const lines = dev.lines(/^ {2}curl /);
    expect(lines).to.have.length(3);
    for (const line of lines.slice(0, 2)) {
      const { ok, output } = await run("sh", ["-c", `${line} --silent --fail`]);
      expect(ok, output).to.equal(true);
      expect(JSON.parse(output).kind).to.match(/^(APIGroupList|NoteList)$/);
    }
    expect(lines[2]).to.match(/watch=true'$/);
  });

  it("serves lists of views, and views with parameters in their path", async () => {
    const list = `${viewText({ path: "/owners/:owner" }).replace("export default", "const view =")}export default [view];`;
    await using dev = await Dev.start({ files: { "list.ts": list, "helper.ts": "export const nothing = 1;" } });
    expect(dev.text)
      .to.match(/note {2}\/services\/note\/owners\/:owner {2}notes\n/)
      .and.match(/no context/);
    expect((await dev.get("/services/note/owners/ann/apis/test.dev/v1/notes")).code).to.equal(200);
  });

  it("rejects views with conflicting names", async () => {
    await using dev = new Dev({ files: { "a.ts": viewText(), "b.ts": viewText() } });
    expect((await dev.ended).code).to.equal(1);
    expect(dev.text).to.match(/b\.ts: the name note is already used by \S+a\.ts: use another name/);
  });
});

/** Returns a port that is in use. */
async function takenPort(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, [Symbol.asyncDispose]: async () => void (await once(server.close(), "close")) };
}
