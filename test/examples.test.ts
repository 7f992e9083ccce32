// Imports each example, serves it on a free port, sends requests and stops it. Tests what the example demonstrates.
import { globSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { staticTokens, type VirtualWorkspace } from "@virtual-workspaces/framework";
import { type Host, memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { parse } from "yaml";
import { createApp } from "../examples/express-app.ts";
import filtered, { advance } from "../examples/filtered.ts";
import lens from "../examples/lens.ts";
import notes from "../examples/notes.ts";
import { recipesIn } from "../examples/polled/recipes.ts";
import quotes from "../examples/quotes.ts";
import roles from "../examples/roles.ts";
import { createApp as createWebhooks } from "../examples/webhooks/admission-webhook.ts";
import whoSeesWhat from "../examples/who-sees-what.ts";
import { root } from "../tools/install.mjs";
import { expectFault } from "./_setup/faults.ts";
import { tree } from "./_setup/tree.ts";
import { startListener } from "./_support/listener.ts";
import { MERGE } from "./_support/patches.ts";
import { type PlainServer, startPlain, WatchStream } from "./_support/plain.ts";
import { untilAnswer } from "./_support/until.ts";

type Exported = VirtualWorkspace | ((host: Host) => VirtualWorkspace);

const AUTHENTICATION = [
  staticTokens({ alice: { name: "alice" }, admin: { name: "admin", groups: ["system:masters"] } }),
];

const start = (view: VirtualWorkspace): Promise<PlainServer> => startPlain([view], { authentication: AUTHENTICATION });

/** Counts the lines of an example. An import counts as one, however the formatter wraps it. */
const linesOf = (name: string): string[] =>
  readFileSync(join(root, `examples/${name}.ts`), "utf8")
    .trimEnd()
    .replace(/^import [^;]*;$/gm, (statement) => statement.replaceAll("\n", " "))
    .split("\n");

const pathOf = (view: VirtualWorkspace, resource: string): string =>
  `/services/${view.name}/clusters/root/apis/example.dev/v1/${resource}`;

describe("examples", () => {
  const files = globSync("examples/*.ts", { cwd: root });

  it("are as many as the guides say", () => {
    expect(files.sort()).to.deep.equal(
      [
        "controller",
        "express-app",
        "filtered",
        "initializer",
        "lens",
        "notes",
        "quotes",
        "roles",
        "todo",
        "who-sees-what",
      ].map((name) => `examples/${name}.ts`),
    );
  });

  // These two are programs, which test/e2e runs; importing them has no effect.
  for (const file of files.filter((name) => !/(controller|initializer)\.ts$/.test(name))) {
    it(`${file} exports a view by default, and all objects match their schema's kind`, async () => {
      const { default: made } = (await import(pathToFileURL(join(root, file)).href)) as { default: Exported };
      await using store = memoryStore();
      const view = typeof made === "function" ? made({ store }) : made;
      await using server = await start(view);
      const base = `/services/${view.name}/clusters/root`;
      const { body } = await server.get(`${base}/apis/example.dev/v1`, { user: "admin" });
      expect(body.resources).to.have.length.above(0);
      for (const { name, kind } of body.resources.filter(({ name }: { name: string }) => !name.includes("/"))) {
        const list = await server.get(`${base}/apis/example.dev/v1/${name}`, { user: "admin" });
        expect(list.status).to.equal(200);
        expect(list.body.kind).to.equal(`${kind}List`);
        if (view === made) expect(list.body.items, name).to.have.length.above(0);
        expect(
          (await server.get(`${base}/apis/example.dev/v1/${name}`, { headers: { authorization: "" } })).status,
        ).to.equal(401);
      }
    });
  }

  it("controller.ts has fewer than eighty lines, and is not a view", async () => {
    expect(linesOf("controller")).to.have.length.below(80);
    const { manifests, ...others } = await import("../examples/controller.ts");
    expect(others).to.deep.equal({});
    const kinds = ["ServiceAccount", "APIResourceSchema", "APIExport", "ClusterRole", "ClusterRoleBinding"];
    expect(manifests.map(({ kind }) => kind)).to.deep.equal(kinds);
  });

  it("initializer.ts has fewer than eighty lines, and is not a view", async () => {
    expect(linesOf("initializer")).to.have.length.below(80);
    const { manifests, ...others } = await import("../examples/initializer.ts");
    expect(others).to.deep.equal({});
    const roles = ["ClusterRole", "ClusterRoleBinding", "ClusterRole", "ClusterRoleBinding"];
    expect(manifests.map(({ kind }) => kind)).to.deep.equal(["ServiceAccount", "WorkspaceType", ...roles]);
  });

  it("quotes.ts has fewer than thirty lines, and changes by itself within seconds", async function () {
    this.timeout(60_000);
    expect(linesOf("quotes")).to.have.length.below(30);
    await using server = await start(quotes);
    await using watch = await server.watch(`${pathOf(quotes, "quotes")}?watch=true&fieldSelector=metadata.name=clock`);
    const { object } = await watch.next();
    expect((object as { spec?: { text: string } }).spec?.text).to.match(/^It is \d\d:\d\d:\d\d/);
  });

  it("filtered.ts: trains enter and leave in one watch, and list and watch agree", async () => {
    await using server = await start(filtered);
    const boarding = async (): Promise<string[]> =>
      (await server.get(pathOf(filtered, "trains"))).body.items.map(
        (train: { metadata: { name: string } }) => train.metadata.name,
      );
    expect(await boarding()).to.deep.equal(["aarhus"]);
    await using watch = await server.watch(`${pathOf(filtered, "trains")}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED aarhus"]);
    for (const [step, left, came] of [
      [0, "aarhus", "basel"],
      [1, "basel", "calais"],
    ] as const) {
      advance(step);
      expect(await watch.take(2)).to.deep.equal([`DELETED ${left}`, `ADDED ${came}`]);
      expect(await boarding()).to.deep.equal([came]);
    }
  });

  it("who-sees-what.ts: two users have two lists and two APIs", async () => {
    await using server = await start(whoSeesWhat);
    const base = "/services/who-sees-what/clusters/root/apis/example.dev/v1";
    const kinds = async (user: "alice" | "admin"): Promise<string[]> =>
      (await server.get(base, { user })).body.resources.map((resource: { kind: string }) => resource.kind);
    const documents = async (user: "alice" | "admin"): Promise<string[]> =>
      (await server.get(`${base}/documents`, { user })).body.items.map(
        (item: { metadata: { name: string } }) => item.metadata.name,
      );
    expect([await kinds("admin"), await kinds("alice")]).to.deep.equal([["Document", "Salary"], ["Document"]]);
    expect([await documents("admin"), await documents("alice")]).to.deep.equal([["menu", "plan"], ["menu"]]);
    expect((await server.get(`${base}/salaries`, { user: "alice" })).status).to.equal(404);
    expect((await server.get(`${base}/documents/plan`, { user: "alice" })).status).to.equal(404);
  });

  it("roles.ts: all users view, operators edit, alice edits the attic, and reviews agree", async () => {
    await using server = await start(roles);
    const base = "/services/roles/clusters/root/apis" as const;
    const made = async (user: "alice" | "admin", namespace: string): Promise<number> => {
      const body = {
        apiVersion: "example.dev/v1",
        kind: "Runbook",
        metadata: { name: `${user}s` },
        spec: { steps: [] },
      };
      const path = `${base}/example.dev/v1/namespaces/${namespace}/runbooks` as const;
      const review = {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "create", group: "example.dev", resource: "runbooks", namespace } },
      };
      const may = await server.send(`POST ${base}/authorization.k8s.io/v1/selfsubjectaccessreviews`, review, { user });
      const { status } = await server.send(`POST ${path}`, body, { user });
      expect(may.body.status.allowed).to.equal(status === 201);
      return status;
    };
    expect(await made("alice", "default")).to.equal(403);
    expect(await made("alice", "attic")).to.equal(201);
    expect([await made("admin", "default"), await made("admin", "attic")]).to.deep.equal([201, 201]);
    const list = await server.get(`${base}/example.dev/v1/runbooks`);
    expect(list.body.items).to.have.length(5);
    expect((await server.send(`DELETE ${base}/example.dev/v1/namespaces/default/runbooks`)).status).to.equal(403);
  });

  it("lens.ts: reminders are a user's own todos, written by the todos' rules", async () => {
    const { todos } = await import("../examples/todo.ts");
    await using server = await start(lens);
    const path = "/services/lens/clusters/root/apis/example.dev/v1/namespaces/default/reminders" as const;
    const reminder = (name: string, text: string): object => ({
      apiVersion: "example.dev/v1",
      kind: "Reminder",
      metadata: { name },
      spec: { text },
    });
    await using watch = await server.watch(`${path}?watch=true`, { user: "alice" });
    expect(await watch.take(1)).to.deep.equal(["ADDED water"]);
    const made = await server.send(`POST ${path}`, reminder("call", "Call Ada"), { user: "alice" });
    expect(made.status).to.equal(201);
    expect(todos.in("root", "default").get("call")?.spec).to.deep.equal({
      title: "Call Ada",
      done: false,
      owner: "alice",
    });
    const empty = await server.send(`POST ${path}`, reminder("nothing", " "), { user: "alice" });
    expect(empty.body.message).to.contain(
      "say what is to be done (a field of the Todo.example.dev that stores this Reminder",
    );
    const foreign = await server.send(`PATCH ${path}/pay`, { spec: { text: "mine" } }, { user: "alice", ...MERGE });
    expect(foreign.status).to.equal(404);
    const done = await server.send(`PATCH ${path}/call`, { spec: { done: true } }, { user: "alice", ...MERGE });
    expect(done.status).to.equal(200);
    expect(await watch.take(2)).to.deep.equal(["ADDED call", "DELETED call"]);
    expect(todos.in("root", "default").get("call")?.spec.done).to.equal(true);
    expect((await server.send(`DELETE ${path}`, undefined, { user: "admin" })).body.items).to.have.length(1);
    todos.in("root", "default").set("pay", { title: "Pay the rent", done: false, owner: "admin" });
  });

  it("notes.ts: a new view over the same store has the written objects, and watches continue", async () => {
    await using store = memoryStore();
    const path = "/services/notes/clusters/root/apis/example.dev/v1/namespaces/default/notes";
    const note = { apiVersion: "example.dev/v1", kind: "Note", metadata: { name: "milk" }, spec: { text: "Buy milk" } };
    const write = async (): Promise<string> => {
      await using server = await start(notes({ store }));
      const { body } = await server.get(path);
      expect((await server.send(`POST ${path}`, note)).status).to.equal(201);
      return body.metadata.resourceVersion;
    };
    const version = await write();
    await using server = await start(notes({ store }));
    await using watch = await server.watch(`${path}?watch=true&resourceVersion=${version}`);
    expect(await watch.take(1)).to.deep.equal(["ADDED milk"]);
    expect((await server.get(`${path}/milk`)).body.spec).to.deep.equal({ text: "Buy milk", pinned: false });
  });

  it("polled/recipes.ts: a file is an object, a write is a file, and a folder that is gone deletes nothing", async () => {
    using folder = tree({ "soup.yaml": "spec:\n  title: Soup\n" });
    await using server = await start(recipesIn(folder.path, 10));
    const path = "/services/recipes/clusters/root/apis/example.dev/v1/recipes";
    await untilAnswer(
      () => server.get(path),
      ({ status }) => status === 200,
    );
    await using watch = await server.watch(`${path}?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED soup"]);
    const bread = {
      apiVersion: "example.dev/v1",
      kind: "Recipe",
      metadata: { name: "bread" },
      spec: { title: "Bread" },
    };
    expect((await server.send(`POST ${path}`, bread)).status).to.equal(201);
    expect(parse(readFileSync(join(folder.path, "bread.yaml"), "utf8"))).to.deep.equal(bread);
    renameSync(folder.path, `${folder.path}-away`);
    const warned = await untilAnswer(
      () => server.get(path),
      ({ headers }) => headers["warning"] !== undefined,
    );
    expect(warned.body.items).to.have.length(2);
    renameSync(`${folder.path}-away`, folder.path);
    rmSync(join(folder.path, "soup.yaml"));
    expect(await watch.take(2)).to.deep.equal(["ADDED bread", "DELETED soup"]);
    expectFault(/source cannot be read.*ENOENT/);
  });

  it("express-app.ts: a POST to its own route is an event in an open watch", async () => {
    const { app, api } = createApp("admin");
    await using server = await startListener(app);
    await api.started;
    const { url } = server;
    try {
      const json = { "content-type": "application/json", connection: "close" };
      expect(await (await fetch(`${url}/todos`, { headers: json })).json()).to.deep.equal([
        { id: "milk", title: "Buy milk", done: false },
      ]);
      const todos = `${url}/services/express-app/clusters/root/apis/example.dev/v1/todos`;
      await using watch = await WatchStream.open(`${todos}?watch=true`, { user: "admin" });
      expect(await watch.take(1)).to.deep.equal(["ADDED milk"]);
      const posted = await fetch(`${url}/todos`, { method: "POST", headers: json, body: '{"title":"Call Ada"}' });
      const { id } = (await posted.json()) as { id: string };
      expect(posted.status).to.equal(201);
      expect(await watch.take(1)).to.deep.equal([`ADDED ${id}`]);
      expect((await fetch(`${url}/services/express-app/clusters/root/apis`, { headers: json })).status).to.equal(401);
    } finally {
      api.drain();
      await api[Symbol.asyncDispose]();
    }
  });

  it("webhooks/admission-webhook.ts: sets a color, and rejects sizes that are not in stock", async () => {
    await using server = await startListener(createWebhooks());
    const ask = async (path: string, spec: object) => {
      const headers = { "content-type": "application/json", connection: "close" };
      const body = JSON.stringify({ request: { uid: "1", object: { spec } } });
      const answer = await fetch(server.url + path, { method: "POST", headers, body });
      return ((await answer.json()) as { response: { allowed: boolean; patch?: string } }).response;
    };
    const { patch = "" } = await ask("/default", { size: 1 });
    expect(JSON.parse(Buffer.from(patch, "base64").toString())).to.deep.equal([
      { op: "add", path: "/spec/color", value: "red" },
    ]);
    expect(await ask("/default", { size: 1, color: "blue" })).to.deep.equal({ uid: "1", allowed: true });
    expect(await ask("/validate", { size: 9 })).to.deep.equal({ uid: "1", allowed: true });
    expect((await ask("/validate", { size: 10 })).allowed).to.equal(false);
  });
});
