// Writes through several Spaces as one API server: they reach the Space of the object, by the rules of that Space.
import { expect } from "chai";
import { Lent } from "../support/lent.ts";
import { MAPS, SPACE, Viewed } from "../support/viewed.ts";

const root = { user: "root" };
const SOURCE = "virtual-workspaces.dev/source-version";

describe("writes to several Spaces as one API server", function () {
  this.timeout(60_000);
  let lent: Lent;
  let viewed: Viewed;

  before(async () => {
    lent = await Lent.start("one", "two");
    viewed = await Viewed.over(lent);
  });
  after(async () => {
    await viewed?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });
  afterEach(async () => {
    for (const space of ["one", "two"]) {
      const { body } = await lent.management.server.get(`/clusters/root:${space}${MAPS}`, root);
      for (const { metadata } of body.items)
        if (metadata.name !== "kube-root-ca.crt") await lent.take(space, metadata.name);
    }
  });

  const AT = "/services/spaces/*/*";
  const send = (call: `${string} /${string}`, body?: unknown, headers?: Record<string, string>) => {
    const [method = "", path = ""] = call.split(" ");
    return viewed.server.send(`${method} ${AT}${path}` as `${string} /${string}`, body, {
      ...root,
      ...(headers && { headers }),
    });
  };
  /** The object in its Space. */
  const behind = async (space: string, name: string) =>
    (await lent.management.server.get(`/clusters/root:${space}${MAPS}/${name}`, root)).body;

  it("replace an object in its Space, without annotations of the view", async () => {
    await lent.put("two", "menu", { soup: "pea" });
    const { body } = await viewed.get(`${MAPS}/menu`);
    const put = await send(`PUT ${MAPS}/menu`, { ...body, data: { soup: "leek" } });
    expect(put.status, put.text).to.equal(200);
    expect(put.body.data).to.eql({ soup: "leek" });
    expect(put.body.metadata.annotations[SPACE]).to.equal("default/two");
    const kept = await behind("two", "menu");
    expect(kept.data).to.eql({ soup: "leek" });
    expect(kept.metadata.annotations).to.not.have.any.keys(SPACE, SOURCE);
    expect(put.body.metadata.annotations[SOURCE]).to.equal(kept.metadata.resourceVersion);
    // The response equals a later read, at the version that watches have seen.
    const now = await viewed.get(`${MAPS}/menu`);
    expect(now.body.metadata.resourceVersion).to.equal(put.body.metadata.resourceVersion);
    const again = await send(`PUT ${MAPS}/menu`, { ...put.body, data: {} });
    expect(again.status).to.equal(200);
  });

  it("are rejected for a version that is not the current one, of either sequence", async () => {
    await lent.put("one", "menu", { soup: "pea" });
    const { body } = await viewed.get(`${MAPS}/menu`);
    await lent.put("one", "menu", { soup: "leek" });
    const late = await send(`PUT ${MAPS}/menu`, { ...body, data: {} });
    expect([late.status, late.body.reason]).to.eql([409, "Conflict"]);
    const own = await behind("one", "menu");
    const foreign = await send(`PUT ${MAPS}/menu`, own);
    expect(foreign.status).to.equal(409);
    // Version of another process, whose source version is current.
    const { resourceVersion: _, ...metadata } = (await viewed.get(`${MAPS}/menu`)).body.metadata;
    const replica = await send(`PUT ${MAPS}/menu`, { ...own, metadata: { ...metadata, resourceVersion: "7" } });
    expect(replica.status, replica.text).to.equal(200);
    const stale = { ...metadata.annotations, [SOURCE]: "1" };
    const wrong = { ...own, metadata: { ...metadata, annotations: stale, resourceVersion: "7" } };
    expect((await send(`PUT ${MAPS}/menu`, wrong)).status).to.equal(409);
  });

  it("send patches unchanged, and apply as apply", async () => {
    await lent.put("one", "menu", { soup: "pea" });
    const merge = { "content-type": "application/merge-patch+json" };
    const patched = await send(`PATCH ${MAPS}/menu`, { data: { fish: "cod" } }, merge);
    expect(patched.status, patched.text).to.equal(200);
    expect(patched.body.data).to.eql({ soup: "pea", fish: "cod" });
    expect(patched.body.metadata.annotations[SPACE]).to.equal("default/one");
    const apply = { "content-type": "application/apply-patch+yaml" };
    const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "menu" }, data: { wine: "red" } };
    const applied = await send(`PATCH ${MAPS}/menu?fieldManager=cook`, config, apply);
    expect(applied.status, applied.text).to.equal(200);
    const owners = (await behind("one", "menu")).metadata.managedFields;
    expect(owners.find(({ manager }: { manager: string }) => manager === "cook")?.operation).to.equal("Apply");
    const json = { "content-type": "application/json-patch+json" };
    const removed = await send(`PATCH ${MAPS}/menu`, [{ op: "remove", path: "/data/fish" }], json);
    expect(removed.body.data).to.eql({ soup: "pea", wine: "red" });
  });

  it("translate versions and annotations of the view in patches", async () => {
    await lent.put("one", "menu", { soup: "pea" });
    const { body } = await viewed.get(`${MAPS}/menu`);
    const { resourceVersion } = body.metadata;
    const merge = { "content-type": "application/merge-patch+json" };
    const annotations = { [SPACE]: "default/two", [SOURCE]: "1", mine: "yes" };
    const patched = await send(`PATCH ${MAPS}/menu`, { metadata: { resourceVersion, annotations } }, merge);
    expect(patched.status, patched.text).to.equal(200);
    const kept = await behind("one", "menu");
    expect(kept.metadata.annotations).to.deep.include({ mine: "yes" });
    expect(kept.metadata.annotations).to.not.have.any.keys(SPACE, SOURCE);
    expect((await send(`PATCH ${MAPS}/menu`, { metadata: { resourceVersion } }, merge)).status).to.equal(409);
    const test = [{ op: "test", path: "/metadata/resourceVersion", value: patched.body.metadata.resourceVersion }];
    const json = { "content-type": "application/json-patch+json" };
    const said = await send(`PATCH ${MAPS}/menu`, [...test, { op: "add", path: "/data/x", value: "y" }], json);
    expect(said.status, said.text).to.equal(200);
    const yaml = { "content-type": "application/apply-patch+yaml" };
    const text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: menu\n  resourceVersion: '7'\n";
    const refused = await send(`PATCH ${MAPS}/menu?fieldManager=cook`, text, yaml);
    expect([refused.status, refused.body.message]).to.eql([
      400,
      "unsupported patch (application/apply-patch+yaml) of an object across spaces with metadata.resourceVersion or annotations of this view: send JSON, or omit them",
    ]);
  });

  it("delete an object in its Space if it is unchanged", async () => {
    await lent.put("two", "menu");
    const { body } = await viewed.get(`${MAPS}/menu`);
    const { uid, resourceVersion } = body.metadata;
    const other = await send(`DELETE ${MAPS}/menu`, { preconditions: { resourceVersion: "1" } });
    expect(other.status).to.equal(409);
    const gone = await send(`DELETE ${MAPS}/menu`, { preconditions: { uid, resourceVersion } });
    expect(gone.status, gone.text).to.equal(200);
    expect((await behind("two", "menu")).code).to.equal(404);
    expect((await viewed.get(`${MAPS}/menu`)).status).to.equal(404);
  });

  it("change nothing in a dry run, and return its result", async () => {
    await lent.put("one", "menu", { soup: "pea" });
    const merge = { "content-type": "application/merge-patch+json" };
    const { body } = await send(`PATCH ${MAPS}/menu?dryRun=All`, { data: { soup: "leek" } }, merge);
    expect([body.data.soup, body.metadata.annotations[SPACE]]).to.eql(["leek", "default/one"]);
    expect((await behind("one", "menu")).data.soup).to.equal("pea");
  });

  it("of an ambiguous name list its Spaces and change none", async () => {
    for (const space of ["one", "two"]) await lent.put(space, "menu", { soup: "pea" });
    const merge = { "content-type": "application/merge-patch+json" };
    for (const { status, body } of [
      await send(`PATCH ${MAPS}/menu`, { data: {} }, merge),
      await send(`DELETE ${MAPS}/menu`),
      await send(`PUT ${MAPS}/menu`, await behind("one", "menu")),
    ]) {
      expect(status).to.equal(400);
      expect(body.message).to.include("/services/spaces/-/one, /services/spaces/-/two");
    }
    const named = await viewed.server.send(
      `PATCH /services/spaces/-/one${MAPS}/menu`,
      { data: { soup: "leek" } },
      {
        ...root,
        headers: merge,
      },
    );
    expect(named.status, named.text).to.equal(200);
    expect((await behind("two", "menu")).data.soup).to.equal("pea");
  });

  it("create nothing, and show where that is possible", async () => {
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "new" } };
    const made = await send(`POST ${MAPS}`, map);
    expect([made.status, made.body.message]).to.eql([
      405,
      'create is not supported on resources of kind "configmaps" across spaces: name one, as in /services/spaces/-/one',
    ]);
    expect((await send(`DELETE ${MAPS}`)).status).to.equal(405);
    const apply = { "content-type": "application/apply-patch+yaml" };
    expect((await send(`PATCH ${MAPS}/new?fieldManager=cook`, map, apply)).status).to.equal(404);
    const named = await viewed.server.send(`POST /services/spaces/-/two${MAPS}`, map, root);
    expect(named.status, named.text).to.equal(201);
    expect((await viewed.get(`${MAPS}/new`)).body.metadata.annotations[SPACE]).to.equal("default/two");
  });
});
