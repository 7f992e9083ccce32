// Terminating workspaces and their content in the view of their type's controller.
import { expect } from "chai";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { JSON_PATCH, LC, LISTED, MAPS, map, Owner, root, startViewed, told, UNIVERSAL } from "./support/owner.ts";

describe("the view of terminating workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;

  before(async () => {
    server = await startViewed();
    owner = await Owner.make(server, {
      app: { terminator: true, ...UNIVERSAL },
      strict: { terminator: true, terminatorPermissions: LISTED, ...UNIVERSAL },
    });
  });

  after(async () => server?.[Symbol.asyncDispose]());

  const ready = async (name: string, type?: string): Promise<string> => {
    const cluster = await owner.settled(name, type);
    await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
    return cluster;
  };

  it("has the workspaces whose deletion waits for a type, with their content, until it is done and they are deleted", async () => {
    const all = owner.in("terminating");
    await using watch = await all.watch(`${LC}?watch=true`);
    const cluster = await ready("one");
    const one = owner.in("terminating", cluster);
    const { status: made } = await server.send(`POST /clusters/${cluster}${MAPS}`, map("theirs"), root);
    expect([made, (await one.get(`${LC}/cluster`)).status, (await one.get(MAPS)).status]).to.deep.equal([
      201, 404, 403,
    ]);

    await owner.remove("one");
    // As in kcp: only its deletion is new.
    expect(told(await watch.next())).to.equal(`MODIFIED ${cluster}`);
    await using later = await all.watch(`${LC}?watch=true`);
    expect(told(await later.next())).to.equal(`ADDED ${cluster}`);
    const { items } = (await all.get(LC)).body;
    expect(items[0].metadata.deletionTimestamp).to.be.a("string");
    expect(items[0].status).to.deep.include({ phase: "Terminating", terminators: [`${owner.cluster}:app`] });
    expect((await one.get(`${MAPS}/theirs`)).body.data.by).to.equal("a controller");
    expect((await one.send(`POST ${MAPS}`, map("archived"))).status).to.equal(201);
    const { body: groups } = await one.get("/apis");
    expect(groups.groups.map(({ name }: { name: string }) => name)).to.deep.equal(["core.kcp.io"]);

    const grown = [{ op: "add", path: "/status/terminators/-", value: "root:other" }];
    const refused = await one.send(`PATCH ${LC}/cluster/status`, grown, JSON_PATCH);
    expect([refused.status, refused.body.details.causes[0].field]).to.deep.equal([422, "status.terminators"]);
    await owner.finish("terminating", cluster);
    const events = await watch.until(({ type }) => type === "DELETED");
    expect(told(events.at(-1))).to.equal(`DELETED ${cluster}`);
    expect((await one.get(MAPS)).status).to.equal(403);
    await owner.until(cluster, ({ status }) => status !== 200);
  });

  it("grants a type with permissions these, as the caller", async () => {
    const cluster = await ready("two", "strict");
    await owner.remove("two");
    await owner.until(cluster, ({ body }) => body.status.phase === "Terminating");
    const one = owner.in("terminating", cluster, "strict");
    const made = await one.send(`POST ${MAPS}`, map("made"));
    expect(made.status, made.text).to.equal(201);
    const { managedFields } = made.body.metadata;
    expect([managedFields.length, (await one.get(`${MAPS}/made`)).status]).to.deep.equal([1, 403]);
    await owner.finish("terminating", cluster, "strict");
    await owner.until(cluster, ({ status }) => status !== 200);
  });
});
