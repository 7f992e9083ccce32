// Several Spaces as one API server for reads and watches.
import { expect } from "chai";
import { crd } from "../../../_support/crd.ts";
import { define } from "../../../workspace-server/support/logical-clusters.ts";
import { Lent } from "../support/lent.ts";
import { type Listed, MAPS, SPACE, Viewed } from "../support/viewed.ts";

interface Column {
  readonly name: string;
  readonly priority: number;
}

describe("several Spaces as one API server", function () {
  this.timeout(60_000);
  let lent: Lent;
  let viewed: Viewed;

  before(async () => {
    lent = await Lent.start("one", "two");
    viewed = await Viewed.over(lent);
    await lent.put("one", "menu", { soup: "leek" });
    await lent.put("two", "menu", { soup: "pea" });
    await lent.put("two", "wine", { red: "yes" });
  });
  after(async () => {
    await viewed?.[Symbol.asyncDispose]();
    await lent?.[Symbol.asyncDispose]();
  });

  const MENUS = `${MAPS}?fieldSelector=metadata.name%21%3Dkube-root-ca.crt`;

  it("list the objects of each Space, with the Space", async () => {
    const { status, body } = await viewed.get(MENUS);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(await viewed.names(MENUS)).to.have.members(["default/one menu", "default/two menu", "default/two wine"]);
    const clusters = (body.items as Listed[]).map(({ metadata }) => metadata.annotations?.["kcp.io/cluster"]);
    expect(new Set(clusters).size).to.equal(2);
    for (const { metadata } of body.items as Listed[])
      expect(metadata.annotations?.["virtual-workspaces.dev/source-version"]).to.match(/^\d+$/);
  });

  it("show the Space of each object in a table", async () => {
    const accept = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const { body } = await viewed.server.get(`/services/spaces/*/*${MENUS}`, { user: "root", headers: accept });
    expect(body.columnDefinitions.map(({ name }: { name: string }) => name)).to.eql(["Name", "Space", "Age"]);
    const rows = body.rows.map(({ cells }: { cells: unknown[] }) => cells.slice(0, 2));
    expect(rows).to.deep.include(["menu", "default/one"]);
  });

  it("show the supported columns of a custom kind in a table", async () => {
    const columns = [
      { name: "Size", type: "integer", jsonPath: ".spec.size" },
      { name: "Space", type: "string", jsonPath: ".spec.space" },
      { name: "Wide", type: "string", jsonPath: ".spec.wide", priority: 1, description: "How wide." },
    ];
    const spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const version = { additionalPrinterColumns: columns };
    await define(lent.management.server, "root:two", [crd("Barrel", { properties: { spec }, version })]);
    const barrel = { apiVersion: "example.dev/v1", kind: "Barrel", metadata: { name: "oak" }, spec: { size: 225 } };
    const path = "/apis/example.dev/v1/namespaces/default/barrels";
    const made = await viewed.server.send(`POST /services/spaces/-/two${path}`, barrel, { user: "root" });
    expect(made.status, made.text).to.equal(201);
    const headers = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
    const table = () => viewed.server.get(`/services/spaces/*/*${path}`, { user: "root", headers });
    let answer = await table();
    // Until the kind is discovered.
    while (answer.status === 404) answer = await table();
    const heads = answer.body.columnDefinitions.map(({ name, priority }: Column) => `${name} ${priority}`);
    expect(heads).to.eql(["Name 0", "Space 0", "Size 0", "Wide 1", "Age 0"]);
    expect(answer.body.rows[0].cells.slice(0, 3)).to.eql(["oak", "default/two", 225]);
  });

  it("serve the kinds of all Spaces that support list and watch", async () => {
    const { body } = await viewed.get("/api/v1");
    const maps = body.resources.find(({ name }: { name: string }) => name === "configmaps");
    expect(maps.verbs).to.eql(["delete", "get", "list", "patch", "update", "watch"]);
    expect(maps.shortNames).to.eql(["cm"]);
    const apis = await viewed.get("/apis");
    expect(apis.body.groups.map(({ name }: { name: string }) => name)).to.include("rbac.authorization.k8s.io");
    expect((await viewed.get("/apis/example.dev/v1/widgets")).status).to.equal(404);
  });

  it("support the field selectors that kubectl uses", async () => {
    const about = "involvedObject.kind%3DConfigMap,involvedObject.name%3Dmenu";
    const { status, body } = await viewed.get(`/api/v1/namespaces/default/events?fieldSelector=${about}`);
    expect([status, body.items]).to.eql([200, []]);
  });

  it("return pages of one consistent state", async () => {
    const first = await viewed.get(`${MENUS}&limit=2`);
    expect(first.body.items).to.have.length(2);
    await lent.put("one", "late");
    const second = await viewed.get(`${MENUS}&limit=2&continue=${first.body.metadata.continue}`);
    expect(second.body.items.map(({ metadata }: Listed) => metadata.name)).to.not.include("late");
    expect(second.body.metadata.resourceVersion).to.equal(first.body.metadata.resourceVersion);
    await lent.take("one", "late");
  });

  it("are watched with resource versions of one sequence, and resume from any of them", async () => {
    const { body } = await viewed.get(MENUS);
    await using watch = await viewed.watch(`${MENUS}&watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await lent.put("one", "bread");
    const [added] = await watch.until(({ object }) => object.metadata.name === "bread");
    expect(added?.object.metadata.annotations?.[SPACE]).to.equal("default/one");
    await lent.put("two", "bread", { kind: "rye" });
    await watch.until(({ object }) => object.metadata.annotations?.[SPACE] === "default/two");
    await lent.take("one", "bread");
    const gone = await watch.next();
    expect([gone.type, gone.object.metadata.annotations?.[SPACE]]).to.eql(["DELETED", "default/one"]);
    await using again = await viewed.watch(
      `${MENUS}&watch=1&resourceVersion=${added?.object.metadata.resourceVersion}`,
    );
    const events = [await again.next(), await again.next()];
    expect(events.map(({ type, object }) => `${type} ${object.metadata.annotations?.[SPACE]}`)).to.eql([
      "ADDED default/two",
      "DELETED default/one",
    ]);
    const versions = events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).to.eql([...versions].sort((a, b) => a - b));
    await lent.take("two", "bread");
  });

  it("proxy whole requests for a single Space", async () => {
    const { body } = await viewed.get(MENUS, "-/two");
    expect(body.items.map(({ metadata }: Listed) => metadata.name)).to.eql(["menu", "wine"]);
    expect(body.items[0].metadata.annotations?.[SPACE]).to.equal(undefined);
    const own = await lent.management.server.get(`/clusters/root:two${MENUS}`, { user: "root" });
    expect(body).to.eql(own.body);
    expect((await viewed.get("/version", "-/two")).body.gitVersion).to.equal(
      (await lent.management.server.get("/version", { user: "root" })).body.gitVersion,
    );
  });

  it("serve the schemas of a single Space at the path that kubectl uses", async () => {
    const { body } = await viewed.get("/openapi/v3", "-/two");
    const { serverRelativeURL } = body.paths["api/v1"];
    expect(serverRelativeURL).to.match(/^\/clusters\/root:two\/openapi\//);
    expect((await viewed.get(serverRelativeURL, "-/two")).body.openapi).to.equal("3.0.0");
    // Security: the path does not bypass the authorization.
    expect((await viewed.get("/clusters/root:two/api/v1/configmaps", "-/two")).status).to.equal(404);
  });

  it("are limited to a name or a provider if only one of both is given", async () => {
    expect(await viewed.names(MENUS, "*/one")).to.eql(["default/one menu"]);
    expect(await viewed.names(MENUS, "-/*")).to.have.length(3);
    expect((await viewed.get(MENUS, "nobody/*")).status).to.equal(404);
  });

  it("list the Spaces of an ambiguous name, and return an object that only one Space has", async () => {
    const wine = await viewed.get(`${MAPS}/wine`);
    expect(wine.body.metadata.annotations[SPACE]).to.equal("default/two");
    const menu = await viewed.get(`${MAPS}/menu`);
    expect([menu.status, menu.body.reason]).to.eql([400, "BadRequest"]);
    expect(menu.body.message).to.match(
      /^configmaps "menu" is ambiguous: several spaces have an object with this name: use one of \/services\/spaces\/-\/one, \/services\/spaces\/-\/two$/,
    );
    expect((await viewed.get(`${MAPS}/nothing`)).status).to.equal(404);
  });
});
