// Field ownership through a view: the source's where the view shows its objects unchanged, else the view's own.
import type { ManagedFieldsEntry } from "@virtual-workspaces/apimachinery";
import { expect } from "chai";
import type { Answer, PlainServer } from "../_support/plain.ts";
import { APPLY, CHORES, Chore, chore, chores, MERGE, MINE, mine, serve, TASKS, Task, task } from "./lens-kinds.ts";

const OWNERS = "managed-fields.virtual-workspaces.dev/chores.view.dev";

/** `manager operation: fields of spec`, sorted. */
function owners(managedFields: readonly ManagedFieldsEntry[] = []): string[] {
  const specOf = ({ fieldsV1 }: ManagedFieldsEntry): string[] =>
    Object.keys((fieldsV1?.["f:spec"] as object) ?? {}).filter((name) => name !== ".");
  return managedFields
    .map((entry) => `${entry.manager} ${entry.operation}: ${specOf(entry).sort().join(",").replaceAll("f:", "")}`)
    .sort();
}

const applier =
  (server: PlainServer) =>
  (path: `/${string}`, manager: string, config: object): Promise<Answer> =>
    server.send(`PATCH ${path}&fieldManager=${manager}`, JSON.stringify(config), APPLY);

describe("field ownership through a view", () => {
  it("is the source's when the view shows objects unchanged", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Task.serve(mine(tasks)));
    const apply = applier(server);
    const here = await server.send(
      `PATCH ${MINE}/a?fieldManager=view`,
      JSON.stringify(task("a", { title: "t" })),
      APPLY,
    );
    expect(here.status).to.equal(201);
    const { body: kept } = await server.get(`${TASKS}/a`);
    expect(kept.metadata.managedFields).to.deep.equal(here.body.metadata.managedFields);
    // Fields that the view adds belong to the writer, not to the apply.
    expect(owners(kept.metadata.managedFields)).to.deep.equal(["view Apply: title", "view Update: owner"]);
    const other = await apply(`${TASKS}/a?x`, "source", task("a", { title: "u" }));
    expect(other.body.message).to.contain('conflict with "view": .spec.title');
    const forced = await apply(`${TASKS}/a?force=true`, "source", task("a", { title: "u" }));
    expect(forced.status).to.equal(200);
    const back = await apply(`${MINE}/a?x`, "view", task("a", { title: "v" }));
    expect(back.body.message).to.contain('conflict with "source": .spec.title');
    const patched = await server.send(`PATCH ${MINE}/a?fieldManager=hand`, { spec: { secret: "s" } }, MERGE);
    expect(owners(patched.body.metadata.managedFields)).to.deep.equal([
      "hand Update: secret",
      "source Apply: title",
      "view Update: owner",
    ]);
    expect((await server.get(`${MINE}/a`)).body.metadata.managedFields).to.deep.equal(
      patched.body.metadata.managedFields,
    );
  });

  it("is the view's own when it maps objects, and is stored beside the source's", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    const apply = applier(server);
    const made = await apply(`${CHORES}/a?x`, "ann", chore("a", { text: "t", count: 1 }));
    expect(made.status).to.equal(201);
    expect(owners(made.body.metadata.managedFields)).to.deep.equal(["ann Apply: count,text"]);
    expect(made.body.metadata.managedFields[0].apiVersion).to.equal("view.dev/v1");
    const { body: kept } = await server.get(`${TASKS}/a`);
    expect(owners(kept.metadata.managedFields)).to.deep.equal(["ann Update: count,done,title"]);
    expect(JSON.stringify(kept.metadata.managedFields)).not.to.contain("managed-fields");
    const conflict = await apply(`${CHORES}/a?x`, "bob", chore("a", { text: "u" }));
    expect(conflict.status).to.equal(409);
    expect(conflict.body.message).to.contain('conflict with "ann": .spec.text');
    const patched = await server.send(`PATCH ${CHORES}/a?fieldManager=bob`, { spec: { text: "u" } }, MERGE);
    expect(owners(patched.body.metadata.managedFields)).to.deep.equal(["ann Apply: count", "bob Update: text"]);
    const less = await apply(`${CHORES}/a?force=true`, "ann", chore("a", { text: "w" }));
    expect(less.body.spec).to.deep.equal({ text: "w" });
    expect(tasks.in("root").get("a")?.spec).to.deep.equal({ title: "w", done: false });
    const again = await apply(`${CHORES}/a?x`, "ann", chore("a", { text: "w" }));
    expect(again.body.metadata.resourceVersion).to.equal(less.body.metadata.resourceVersion);
  });

  it("is hidden from clients, and ignored when it is corrupt", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    const apply = applier(server);
    const forged = { annotations: { [OWNERS]: "[]", own: "x" } };
    await apply(`${CHORES}/a?x`, "ann", chore("a", { text: "t" }, forged));
    const { text } = await server.get(CHORES);
    expect(text).not.to.contain("managed-fields.virtual-workspaces.dev");
    const kept = async (): Promise<string> => (await server.get(`${TASKS}/a`)).body.metadata.annotations[OWNERS];
    expect(await kept()).to.contain('"manager":"ann"');
    const sent = { metadata: { annotations: { [OWNERS]: "spoilt" } }, spec: { count: 1 } };
    await server.send(`PATCH ${CHORES}/a`, sent, MERGE);
    expect(await kept()).to.contain('"manager":"ann"');
    const spoilt = [
      "spoilt",
      "{}",
      '[{"manager":1}]',
      '[{"manager":"x"}]',
      '[{"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"bogus":{}}}]',
      `[${" ".repeat(70_000)}]`,
    ];
    for (const bad of spoilt) {
      const set = { metadata: { annotations: { [OWNERS]: bad } } };
      expect((await server.send(`PATCH ${TASKS}/a`, set, MERGE)).status, bad.slice(0, 30)).to.equal(200);
      expect((await server.get(`${CHORES}/a`)).body.metadata).not.to.have.property("managedFields");
    }
    expect((await apply(`${CHORES}/a?x`, "bob", chore("a", { text: "u" }))).status).to.equal(409);
    expect((await apply(`${CHORES}/a?force=true`, "bob", chore("a", { text: "u" }))).status).to.equal(200);
  });

  it("is limited in size", async () => {
    const tasks = Task.collection();
    await using server = await serve(tasks, Chore.serve(chores(tasks)));
    const apply = applier(server);
    await apply(`${CHORES}/a?x`, "ann", chore("a", { text: "t" }));
    const labels = (prefix: string, count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}-${String(at).padStart(40, "0")}`, "x"]));
    const hand = await server.send(`PATCH ${CHORES}/a`, { metadata: { labels: labels("hand", 1_500) } }, MERGE);
    expect(hand.status).to.equal(200);
    expect(owners(hand.body.metadata.managedFields)).to.deep.equal(["ann Apply: text"]);
    const much = await apply(`${CHORES}/a?x`, "bob", chore("a", { count: 1 }, { labels: labels("much", 1_500) }));
    expect(much.status).to.equal(413);
    expect(much.body.message).to.contain("metadata.managedFields: limit is 65536 bytes in this view");
  });
});
