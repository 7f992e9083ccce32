// Admission of LogicalClusters, WorkspaceTypes and Shards, with the text of rejections.
import { expect } from "chai";
import type { IsAllowed } from "../../../packages/workspace-server/src/authz/access.ts";
import { manifest, refusal, type ServedWorld, serveWorld } from "./support/served.ts";
import { startWorld, type World } from "./support/world.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies of tests
type Change = (object: any) => void;
type User = "alice" | "admin";

async function start(
  test: (world: World, server: ServedWorld) => Promise<void>,
  { may, working = false }: { may?: IsAllowed; working?: boolean } = {},
) {
  await using world = await startWorld({ working });
  await using server = await serveWorld(world, may);
  await test(world, server);
}

async function edit(
  server: ServedWorld,
  what: `/${string}`,
  ...[how, user = "alice"]: [Change, User?]
): Promise<string> {
  const { body } = await server.get(what.replace(/\/status$/, ""));
  how(body);
  return refusal(await server.send(`PUT ${what}`, body, { user }));
}

describe("LogicalClusters", () => {
  it("cannot be created or deleted by users", () =>
    start(async (world, server) => {
      const url = server.at("a", "logicalclusters");
      const object = manifest("LogicalCluster", "cluster");
      expect(refusal(await server.send(`POST ${url}`, object))).to.equal("403 LogicalCluster cannot be created");
      const made = await server.send(`POST ${url}`, object, { user: "admin" });
      expect(made.body.metadata.finalizers).to.deep.equal(["core.kcp.io/logicalcluster-deletion"]);
      await world.until(() => world.root.state.logicalCluster("a") !== undefined);
      const one = server.at("a", "logicalclusters/cluster");
      expect(refusal(await server.send(`DELETE ${one}`))).to.equal("403 LogicalCluster cannot be deleted");
      expect(await edit(server, one, ({ spec }) => Object.assign(spec, { directlyDeletable: true }))).to.equal("200");
      expect(refusal(await server.send(`DELETE ${one}`))).to.equal("200");
      const bare: Change = ({ metadata }) => Object.assign(metadata, { finalizers: [] });
      expect(await edit(server, one, bare)).to.equal(
        "403 removing the finalizer core.kcp.io/logicalcluster-deletion is forbidden",
      );
      expect(await edit(server, one, bare, "admin")).to.equal("200");
    }));

  it("keep their immutable fields and their finalizer", () =>
    start(async (_, server) => {
      const one = server.at("root", "logicalclusters/cluster");
      const spec =
        (content: object): Change =>
        (object) =>
          Object.assign(object.spec, content);
      const annotation =
        (key: string): Change =>
        ({ metadata }) =>
          Object.assign(metadata.annotations, { [key]: "x" });
      expect(await edit(server, one, spec({ createdBy: { username: "me" } }))).to.equal(
        '403 spec.createdBy: Invalid value: {"username":"me"}: field is immutable',
      );
      expect(await edit(server, one, spec({ initializers: ["root:xx"] }))).to.equal(
        "403 spec.initializers is immutable",
      );
      for (const key of ["kcp.io/path", "internal.tenancy.kcp.io/type", "core.kcp.io/shard"])
        expect(await edit(server, one, annotation(key))).to.equal(
          `403 metadata.annotations[${key}]: Invalid value: "x": field is immutable`,
        );
      expect(await edit(server, one, annotation("mine"))).to.equal("200");
      expect((await server.get(one)).body.metadata.finalizers).to.deep.equal(["core.kcp.io/logicalcluster-deletion"]);
    }));

  it("only move forward, with their initializers", () =>
    start(async (_, server) => {
      const url = server.at("a", "logicalclusters");
      const spec = { initializers: ["root:xx", "root:yy"], terminators: ["root:tt"] };
      await server.send(`POST ${url}`, manifest("LogicalCluster", "cluster", { spec }), { user: "admin" });
      const status = server.at("a", "logicalclusters/cluster/status");
      const to =
        (content: object): Change =>
        (object) =>
          Object.assign(object.status, content);
      expect(await edit(server, status, to({ phase: "Initializing" }))).to.equal("200");
      const begun = (await server.get(server.at("a", "logicalclusters/cluster"))).body.status;
      expect(begun).to.deep.equal({ phase: "Initializing", ...spec });
      expect(await edit(server, status, to({ initializers: ["root:xx", "root:zz"] }))).to.equal(
        "403 status.initializers must not grow",
      );
      expect(await edit(server, status, to({ phase: "Ready" }))).to.equal("403 status.initializers is not empty");
      expect(await edit(server, status, to({ phase: "Ready", initializers: ["root:xx"] }))).to.equal(
        "403 status.initializers is immutable after initialization",
      );
      expect(await edit(server, status, to({ phase: "Scheduling" }))).to.equal("403 status.initializers is not empty");
      expect(await edit(server, status, to({ initializers: [] }))).to.equal("200");
      expect(await edit(server, status, to({ phase: "Scheduling" }))).to.equal(
        '403 cannot transition from "Initializing" to "Scheduling"',
      );
      const inactive: Change = ({ metadata }) =>
        Object.assign(metadata.annotations, { "core.kcp.io/inactive": "true" });
      expect(await edit(server, server.at("a", "logicalclusters/cluster"), inactive)).to.equal(
        '403 LogicalCluster can only be marked inactive in phase "Ready", but is in phase "Initializing"',
      );
      expect(await edit(server, status, to({ phase: "Ready" }))).to.equal("200");
      expect(await edit(server, server.at("a", "logicalclusters/cluster"), inactive)).to.equal("200");
    }));
});

describe("WorkspaceTypes", () => {
  const post = async (server: ServedWorld, spec: object, ...[name = "one", cluster = "root"]: string[]) =>
    refusal(
      await server.send(`POST ${server.at(cluster, "workspacetypes")}`, manifest("WorkspaceType", name, { spec })),
    );

  it("have valid names, and refer to others by path", () =>
    start(async (world, server) => {
      await server.send(`POST ${server.at("a", "logicalclusters")}`, manifest("LogicalCluster", "cluster"), {
        user: "admin",
      });
      await world.until(() => world.root.state.logicalCluster("a") !== undefined);
      for (const name of ["any", "system"])
        expect(await post(server, {}, name)).to.equal(`403 metadata.name: Invalid value: "${name}": name is reserved`);
      expect(await post(server, {}, "root", "a")).to.equal(
        "403 root workspace type can only be created in root cluster",
      );
      const types = [{ name: "x", path: "root" }, { name: "y" }];
      expect(await post(server, { defaultChildWorkspaceType: { name: "x" } })).to.equal(
        "403 .spec.defaultChildWorkspaceType.path must be set",
      );
      for (const field of ["limitAllowedChildren", "limitAllowedParents"])
        expect(await post(server, { [field]: { types } })).to.equal(`403 .spec.${field}.types[1].path must be set`);
      expect(await post(server, {})).to.equal("201");
    }));

  it("name only exports that their author may bind, except existing ones", () => {
    const may: IsAllowed = ({ name: user }, cluster, { verb, name }) =>
      verb !== "bind" || (user === "alice" && cluster === "root" && name === "good");
    return start(
      async (_, server) => {
        const no = "403 unable to create or update WorkspaceType: no permission to bind to export";
        const spec = (...defaultAPIBindings: object[]) => ({ defaultAPIBindings });
        expect(await post(server, spec({ path: "root", export: "good" }, { export: "bad" }))).to.equal(`${no} bad`);
        expect(await post(server, spec({ path: "root:no:where", export: "good" }))).to.equal(
          `${no} root:no:where:good`,
        );
        expect(await post(server, spec({ path: "root", export: "good" }))).to.equal("201");
        const url = server.at("root", "workspacetypes/one");
        const { body } = await server.get(url);
        const put = async (object: object) => refusal(await server.send(`PUT ${url}`, object, { user: "bob" }));
        const labels = { a: "b" };
        expect(await put({ ...body, metadata: { ...body.metadata, labels } })).to.equal("200");
        const more = spec({ path: "root", export: "good" }, { export: "good" });
        const latest = (await server.get(url)).body;
        expect(await put({ ...latest, spec: { ...latest.spec, ...more } })).to.equal(`${no} good`);
      },
      { may },
    );
  });

  it("get their path annotation, which is corrected on other kinds", () =>
    start(async (_, server) => {
      const lying = { metadata: { name: "one", annotations: { "kcp.io/path": "root:other" } } };
      for (const [what, kind] of [
        ["workspacetypes", "WorkspaceType"],
        ["widgets", "Widget"],
      ] as const) {
        const { body } = await server.send(
          `POST ${server.at("root", what)}`,
          manifest(kind, "one", { ...lying, spec: {} }),
        );
        expect(body.metadata.annotations?.["kcp.io/path"]).to.equal("root");
      }
      const plain = await server.send(`POST ${server.at("root", "widgets")}`, manifest("Widget", "two", { spec: {} }));
      expect(plain.body.metadata.annotations).to.deep.equal({ "kcp.io/cluster": "root" });
      expect(
        refusal(
          await server.send(`POST ${server.at("b", "widgets")}`, manifest("Widget", "one", { ...lying, spec: {} })),
        ),
      ).to.equal('403 cannot get this workspace: logicalclusters.core.kcp.io "cluster" not found');
    }));

  it("publish the URLs of their initializing and terminating workspaces, on each shard", () =>
    start(
      async (world) => {
        const type = () => world.root.state.workspaceTypes.store.by("type", "root:universal")[0];
        const urls = () => (type()?.status?.virtualWorkspaces ?? []).map(({ type: of, url }) => `${of} ${url}`);
        const on = (shard: string): string[] => [
          `initializing https://${shard}.example/services/initializingworkspaces/root:universal`,
          `terminating https://${shard}.example/services/terminatingworkspaces/root:universal`,
        ];
        await world.until(() => urls().length === 2);
        expect(urls()).to.deep.equal(on("root"));
        const conditions = type()?.status?.conditions ?? [];
        expect(conditions.map(({ type: of, status }) => `${of} ${status}`)).to.deep.equal([
          "Ready True",
          "VirtualWorkspaceURLsReady True",
        ]);
        await world.addShard("far");
        await world.until(() => urls().length === 4);
        expect(urls()).to.deep.equal([...on("far"), ...on("root")]);
      },
      { working: true },
    ));
});

describe("Shards", () => {
  it("default their URLs to the base URL", () =>
    start(async (_, server) => {
      const url = server.at("root", "shards");
      const made = await server.send(`POST ${url}`, manifest("Shard", "new", { spec: { baseURL: "https://a" } }));
      expect(made.body.spec).to.deep.equal({
        baseURL: "https://a",
        externalURL: "https://a",
        virtualWorkspaceURL: "https://a",
      });
      const bad = await server.send(`POST ${url}`, manifest("Shard", "bad"));
      expect([bad.status, bad.body.message]).to.deep.equal([500, "Internal error occurred: spec.baseURL is required"]);
    }));
});
