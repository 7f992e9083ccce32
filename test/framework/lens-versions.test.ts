// Version checks of writes: versions of the view, of another computation of it, of another replica.
import { SOURCE_VERSION_ANNOTATION, view, type WritableSource } from "@virtual-workspaces/framework";
import { Minter } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import {
  APPLY,
  CHORES,
  Chore,
  chore,
  chores,
  MERGE,
  MINE,
  mine,
  outcome,
  serve,
  TASKS,
  Task,
  type TaskContent,
  task,
} from "./lens-kinds.ts";

const MODIFIED =
  'Operation cannot be fulfilled on chores.view.dev "a": the object has been modified; please apply your changes to the latest version and try again';

async function start() {
  const tasks = Task.collection();
  const here = tasks.in("root");
  here.set("a", { title: "first" });
  const server = await serve(tasks, Chore.serve(chores(tasks)), Task.serve(mine(tasks)));
  const { body: read } = await server.get(`${CHORES}/a`);
  const put = (metadata: object) =>
    server.send(`PUT ${CHORES}/a`, { ...read, metadata: { ...read.metadata, ...metadata }, spec: { text: "mine" } });
  return { tasks, here, server, read, put };
}

describe("a write through a view", () => {
  it("succeeds only with the version that the client has seen", async () => {
    const { here, server, put } = await start();
    await using _ = server;
    here.set("a", { title: "theirs" });
    expect(outcome(await put({}))).to.deep.equal([409, "Conflict", MODIFIED]);
    expect(outcome(await put({ resourceVersion: undefined }))[0]).to.equal(422);
    expect(here.get("a")?.spec.title).to.equal("theirs");
    const { body: now } = await server.get(`${CHORES}/a`);
    expect((await put({ resourceVersion: now.metadata.resourceVersion })).body.spec).to.deep.equal({ text: "mine" });
  });

  it("does not succeed because of a forged annotation", async () => {
    const { here, server, read, put } = await start();
    await using _ = server;
    here.set("a", { title: "theirs" });
    const { body: now } = await server.get(`${CHORES}/a`);
    const annotations = { [SOURCE_VERSION_ANNOTATION]: now.metadata.annotations[SOURCE_VERSION_ANNOTATION] };
    const stale = read.metadata.resourceVersion;
    const ofSource = annotations[SOURCE_VERSION_ANNOTATION];
    for (const resourceVersion of [stale, ofSource, "abc", "-1", "01", "1e3"])
      expect(outcome(await put({ resourceVersion, annotations })), resourceVersion).to.deep.equal([
        409,
        "Conflict",
        MODIFIED,
      ]);
    expect(here.get("a")?.spec.title).to.equal("theirs");
  });

  it("never owns, stores or obeys the annotation itself", async () => {
    const { here, server, read, put } = await start();
    await using _ = server;
    const forged = { [SOURCE_VERSION_ANNOTATION]: "1", own: "x" };
    const { body } = await put({ annotations: forged });
    expect(here.get("a")?.metadata.annotations).to.have.property("own", "x");
    expect(here.get("a")?.metadata.annotations).not.to.have.property(SOURCE_VERSION_ANNOTATION);
    expect(body.metadata.annotations[SOURCE_VERSION_ANNOTATION]).to.equal(here.get("a")?.metadata.resourceVersion);
    const applied = await server.send(
      `PATCH ${CHORES}/b?fieldManager=m`,
      JSON.stringify(chore("b", { text: "t" }, { annotations: forged })),
      APPLY,
    );
    expect(applied.status).to.equal(201);
    expect(JSON.stringify(applied.body.metadata.managedFields)).to.contain("f:own").and.not.contain("source-version");
    const same = await server.send(`PUT ${CHORES}/b`, {
      ...applied.body,
      metadata: { ...applied.body.metadata, annotations: { own: "x" } },
    });
    expect(same.body.metadata.resourceVersion).to.equal(applied.body.metadata.resourceVersion);
    expect(read.metadata.uid).to.equal(body.metadata.uid);
  });

  it("with a version of another replica is checked by the annotation", async () => {
    const { here, server, read, put } = await start();
    await using _ = server;
    const elsewhere = new Minter({ id: 7 }).next();
    const { [SOURCE_VERSION_ANNOTATION]: source } = read.metadata.annotations;
    expect((await put({ resourceVersion: elsewhere, annotations: {} })).status).to.equal(409);
    expect((await put({ resourceVersion: elsewhere })).status).to.equal(200);
    expect((await put({ resourceVersion: elsewhere })).status).to.equal(409);
    expect(source).not.to.equal(here.get("a")?.metadata.resourceVersion);
  });

  it("accepts versions read over all logical clusters, or by another caller", async () => {
    const tasks = Task.collection();
    tasks.in("root").set("a", { title: "t", owner: "alice" });
    const shared = view({
      from: tasks,
      varyBy: ({ identity }) => identity.name,
      select: ({ spec }, { variant }) => spec.owner === variant || variant === "bob",
      mapToSource: (object) => object,
    });
    await using server = await serve(tasks, Task.serve(shared));
    const everywhere = MINE.replace("root", "*");
    await using watch = await server.watch(`${everywhere}?watch=true`);
    const { object } = await watch.next();
    const put = (seen: typeof object, title: string) =>
      server.send(`PUT ${MINE}/a`, { ...seen, spec: { title, owner: "alice" } });
    expect((await server.get(`${MINE}/a`)).body.metadata.resourceVersion).not.to.equal(object.metadata.resourceVersion);
    expect((await put(object, "one")).status).to.equal(200);
    const { object: next } = await watch.next();
    expect((await put(object, "two")).status).to.equal(409);
    expect((await put(next, "two")).status).to.equal(200);
    const { body: bobs } = await server.get(`${MINE}/a`, { user: "bob" });
    expect((await put(bobs, "three")).status).to.equal(200);
    expect((await put(bobs, "four")).status).to.equal(409);
  });

  it("fails for an object that took over the name, and for deletes of an unseen object", async () => {
    const { here, server, read } = await start();
    await using _ = server;
    const { uid, resourceVersion } = read.metadata;
    const wrong = [{ uid: "other" }, { resourceVersion: "1" }, { uid, resourceVersion: "1" }];
    for (const preconditions of wrong)
      expect((await server.send(`DELETE ${CHORES}/a`, { preconditions })).status).to.equal(409);
    here.set("a", { title: "theirs" });
    expect((await server.send(`DELETE ${CHORES}/a`, { preconditions: { resourceVersion } })).status).to.equal(409);
    here.delete("a");
    here.set("a", { title: "another" });
    expect((await server.send(`DELETE ${CHORES}/a`, { preconditions: { uid } })).status).to.equal(409);
    const { body: now } = await server.get(`${CHORES}/a`);
    expect((await server.send(`PUT ${CHORES}/a`, { ...now, metadata: { ...now.metadata, uid } })).status).to.equal(409);
    const { metadata } = now;
    const right = { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
    expect((await server.send(`DELETE ${CHORES}/a`, { preconditions: right })).status).to.equal(200);
    expect(here.list()).to.deep.equal([]);
  });

  it("loses no update when two writers count through view and source at once", async () => {
    const { here, server } = await start();
    await using _ = server;
    const count = async (path: `/${string}`, kind: "text" | "title"): Promise<void> => {
      for (let done = 0; done < 20; ) {
        const { body } = await server.get(path);
        const spec = { ...body.spec, count: (body.spec.count ?? 0) + 1 };
        expect(spec).to.have.property(kind);
        const { status } = await server.send(`PUT ${path}`, { ...body, spec });
        expect(status).to.be.oneOf([200, 409]);
        if (status === 200) done += 1;
      }
    };
    const ways = [
      [`${CHORES}/a`, "text"],
      [`${TASKS}/a`, "title"],
      [`${CHORES}/a`, "text"],
      [`${TASKS}/a`, "title"],
    ] as const;
    await Promise.all(ways.map(([path, kind]) => count(path, kind)));
    expect(here.get("a")?.spec.count).to.equal(80);
  });

  it("returns its own result, though another write follows", async () => {
    const tasks = Task.collection();
    const here = tasks.in("root");
    here.set("a", { title: "first" });
    const busy: WritableSource<TaskContent> = {
      resource: Task,
      cache: () => tasks.cache(),
      shareKey: () => "",
      create: (scope, object) => tasks.create(scope, object),
      delete: (scope, key, options) => tasks.delete(scope, key, options),
      update: (scope, object) => {
        const kept = tasks.update(scope, object);
        here.set("a", { title: "theirs", done: true });
        return kept;
      },
    };
    const open = view({ from: busy, select: ({ spec }) => spec.done !== true, mapToSource: (object) => object });
    await using server = await serve(tasks, Task.serve(open));
    await using watch = await server.watch(`${MINE}?watch=true`);
    const { body } = await server.send(`PATCH ${MINE}/a`, { spec: { title: "mine" } }, MERGE);
    expect(body.spec.title).to.equal("mine");
    const events = [await watch.next(), await watch.next(), await watch.next()];
    expect(events.map(({ type }) => type)).to.deep.equal(["ADDED", "MODIFIED", "DELETED"]);
    expect(events[1]?.object).to.deep.equal(body);
  });

  it("retries patches until they do not conflict", async () => {
    const { here, server } = await start();
    await using _ = server;
    const names = Array.from({ length: 30 }, (_, at) => `l${at}`);
    const paths = [`${CHORES}/a`, `${TASKS}/a`] as const;
    const patch = (name: string, at: number) =>
      server.send(`PATCH ${paths[at % 2] ?? "/"}`, { metadata: { labels: { [name]: "x" } } }, MERGE);
    const codes = (await Promise.all(names.map(patch))).map(({ status }) => status);
    expect(new Set(codes)).to.deep.equal(new Set([200]));
    expect(Object.keys(here.get("a")?.metadata.labels ?? {}).sort()).to.deep.equal(names.sort());
    expect(task("a", {})).to.have.property("kind", "Task");
  });
});
