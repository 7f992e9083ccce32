// Admission of Workspaces by user, with the text of rejections.
import { expect } from "chai";
import type { IsAllowed } from "../../../packages/workspace-server/src/authz/access.ts";
import { manifest, refusal, type ServedWorld, serveWorld } from "./support/served.ts";
import { startWorld, type World } from "./support/world.ts";

const TYPE = "internal.tenancy.kcp.io/type";
const OWNER = "experimental.tenancy.kcp.io/owner";
type Call = NonNullable<Parameters<ServedWorld["send"]>[2]>;

/** Starts without controllers: workspaces stay as created. */
async function start(
  test: (system: { world: World; server: ServedWorld; post: Post }) => Promise<void>,
  may?: IsAllowed,
) {
  await using world = await startWorld({ working: false });
  await using server = await serveWorld(world, may);
  let count = 0;
  const post: Post = async (content, call) =>
    refusal(
      await server.send(`POST ${server.at("root", "workspaces")}`, manifest("Workspace", `w${count++}`, content), call),
    );
  await test({ world, server, post });
}
type Post = (content: object, call?: Call) => Promise<string>;
const typed = (name: string, path?: string) => ({ spec: { type: { name, ...(path !== undefined && { path }) } } });
const MOUNT = { ref: { apiVersion: "v1", kind: "Cluster", name: "far" } };

describe("New Workspaces", () => {
  it("need a parent whose type has a default, or a type of their own", () =>
    start(async ({ world, post }) => {
      const parent = (type: string | undefined) =>
        world.change("root", (cluster) => {
          const annotations = { ...cluster.metadata.annotations };
          delete annotations[TYPE];
          if (type !== undefined) annotations[TYPE] = type;
          return { ...cluster, metadata: { ...cluster.metadata, annotations } };
        });
      const said = async (type: string | undefined): Promise<string> => {
        await parent(type);
        await world.until(() => world.root.state.logicalCluster("root")?.metadata.annotations?.[TYPE] === type);
        return post({});
      };
      expect(await said(undefined)).to.equal(`403 annotation ${TYPE} on LogicalCluster must be set`);
      expect(await said("root")).to.equal(
        `403 annotation ${TYPE} on LogicalCluster must be in the form of cluster:name`,
      );
      expect(await said("root:nothing")).to.equal(
        '403 parent type cannot be resolved: workspacetypes.tenancy.kcp.io "root:nothing" not found',
      );
      await world.bare("bare");
      expect(await said("root:bare")).to.equal(
        "403 spec.defaultChildWorkspaceType of workspace type %s:%s must be set",
      );
      expect(await said("root:root")).to.equal("201");
    }));

  it("need a LogicalCluster around them", () =>
    start(async ({ server }) => {
      const answer = await server.send(`POST ${server.at("nowhere", "workspaces")}`, manifest("Workspace", "one"));
      expect(refusal(answer)).to.equal(
        '403 workspace type cannot be resolved: logicalclusters.core.kcp.io "cluster" not found',
      );
    }));

  it("need an existing type, with all types it extends", () =>
    start(async ({ world, post }) => {
      const extend = (...names: string[]) => ({ extend: { with: names.map((name) => ({ name, path: "root" })) } });
      await world.type("root", "lost", extend("nothing"));
      await world.type("root", "a", extend("b"));
      await world.type("root", "b", extend("a"));
      expect(await post(typed("x", "root"))).to.equal(
        '403 Internal error occurred: workspacetypes.tenancy.kcp.io "root:x" not found',
      );
      expect(await post(typed("x"))).to.equal('403 workspace type "x" cannot be resolved');
      expect(await post(typed("lost"))).to.equal("403 unable to find inherited workspace type nothing");
      expect(await post(typed("a"))).to.equal(
        "403 circular dependency detected in workspace type root:a: root:a -> root:b",
      );
    }));

  it("need permission to use the type and all types it extends, in the types' workspaces", () => {
    const asked: string[] = [];
    const may: IsAllowed = ({ name: user }, cluster, { verb, resource, group, name }) => {
      asked.push(`${user} ${verb} ${resource}.${group} ${name} in ${cluster}`);
      if (name === "broken") throw new Error("no answer");
      return name !== "universal" || user !== "bob";
    };
    return start(async ({ world, post }) => {
      await world.type("root", "broken", {});
      expect(await post(typed("organization"), { user: "bob" })).to.equal(
        "403 unable to use workspace type root:universal: missing verb='use' permission on workspacetype",
      );
      expect(await post(typed("organization"), { user: "alice" })).to.equal("201");
      expect(asked).to.deep.equal([
        "bob use workspacetypes.tenancy.kcp.io universal in root",
        "alice use workspacetypes.tenancy.kcp.io universal in root",
        "alice use workspacetypes.tenancy.kcp.io organization in root",
      ]);
      expect(await post(typed("broken"))).to.equal(
        "403 unable to determine access to workspace type root:broken: no answer",
      );
    }, may);
  });

  it("must satisfy the limits of their type and parent", () =>
    start(async ({ post }) => {
      expect(await post(typed("home"))).to.equal("403 workspace type root:home cannot have any parent");
      expect(await post(typed("team"))).to.equal(
        "403 workspace type root:team only allows [root:organization root:team] parent workspaces, but parent type root:root only implements [root:root]",
      );
    }));

  it("get their owner and required groups from the server, unless an administrator sets them", () =>
    start(async ({ world, server }) => {
      const groups = "authorization.kcp.io/required-groups";
      const owner = "experimental.tenancy.kcp.io/owner";
      const annotations = { [groups]: "mine", [owner]: "me" };
      const made = async (name: string, user: "alice" | "admin") => {
        const content = manifest("Workspace", name, { metadata: { name, annotations } });
        const { body } = await server.send(`POST ${server.at("root", "workspaces")}`, content, { user });
        return [body.metadata.annotations[groups], body.metadata.annotations[owner]];
      };
      const alice =
        '{"username":"alice","uid":"1","groups":["devs","system:authenticated"],"extra":{"a":["1"],"b":["2"]}}';
      expect(await made("one", "alice")).to.deep.equal([undefined, alice]);
      expect(await made("two", "admin")).to.deep.equal(["mine", "me"]);
      await world.change("root", (cluster) => ({
        ...cluster,
        metadata: { ...cluster.metadata, annotations: { ...cluster.metadata.annotations, [groups]: "all" } },
      }));
      await world.until(() => world.root.state.logicalCluster("root")?.metadata.annotations?.[groups] === "all");
      expect(await made("three", "alice")).to.deep.equal(["all", alice]);
      expect(await made("four", "admin")).to.deep.equal(["mine", "me"]);
    }));

  it("cannot set their URL and logical cluster, nor a type if mounted", () =>
    start(async ({ post }) => {
      const cluster = { spec: { cluster: "abc" } };
      const url = { spec: { URL: "https://a/b" } };
      expect(await post(cluster)).to.equal("403 spec.Cluster can only be set by system privileged users");
      expect(await post(url)).to.equal("403 spec.URL can only be set by system privileged users");
      expect(await post({ spec: { ...cluster.spec, ...url.spec } }, { user: "admin" })).to.equal("201");
      for (const field of ["kind", "name", "apiVersion"]) {
        const mount = { ref: { ...MOUNT.ref, [field]: "" } };
        expect(await post({ spec: { mount } })).to.equal(`403 spec.mount.${field} must be set`);
      }
      expect(await post({ spec: { mount: MOUNT, ...typed("universal").spec } })).to.equal(
        "403 spec.type cannot be set for mounted workspaces",
      );
      expect(await post({ spec: { mount: MOUNT } })).to.equal("201");
    }));

  it("get the labels of their own type only, unless already set", () =>
    start(async ({ world, server }) => {
      await world.type("root", "base", { additionalWorkspaceLabels: { base: "1" } });
      const extend = { with: [{ name: "base", path: "root" }] };
      await world.type("root", "leaf", { extend, additionalWorkspaceLabels: { a: "1", b: "2" } });
      const content = { metadata: { name: "one", labels: { a: "own" } }, ...typed("leaf") };
      const { body } = await server.send(
        `POST ${server.at("root", "workspaces")}`,
        manifest("Workspace", "one", content),
      );
      expect(body.metadata.labels).to.deep.equal({ a: "own", b: "2" });
    }));
});

describe("Updated Workspaces", () => {
  // biome-ignore lint/suspicious/noExplicitAny: bodies of tests
  type Change = (object: any) => void;
  const change = async (
    server: ServedWorld,
    name: string,
    [how, user = "alice"]: [Change, ("alice" | "admin" | undefined)?],
  ) => {
    const url = server.at("root", `workspaces/${name}`);
    const { body } = await server.get(url);
    how(body);
    const answer = await server.send(`PUT ${url}`, body, { user });
    return answer.status === 422 ? `422 ${answer.body.details.causes[0].message}` : refusal(answer);
  };

  it("keep their logical cluster and type", () =>
    start(async ({ server, post }) => {
      await post({});
      const say = (how: Change, user?: "alice" | "admin") => change(server, "w0", [how, user]);
      const cluster: Change = ({ spec }) => Object.assign(spec, { cluster: "abc" });
      const url: Change = ({ spec }) => Object.assign(spec, { URL: "https://a/b" });
      expect(await say(cluster)).to.equal("403 spec.cluster can only be changed by system privileged users");
      expect(await say(url)).to.equal("403 spec.URL can only be changed by system privileged users");
      expect(await say(({ spec }) => delete spec.type)).to.equal(
        "403 spec.type: Invalid value: null: field is immutable",
      );
      expect(await say(({ spec }) => Object.assign(spec.type, { name: "team" }))).to.equal(
        "422 Invalid value: name is immutable",
      );
      expect(await say(({ spec }) => Object.assign(spec, { mount: MOUNT }))).to.equal(
        "403 spec.mount cannot be added to or removed from an existing workspace",
      );
      expect(await say(cluster, "admin")).to.equal("200");
      expect(await say(({ spec }) => delete spec.cluster)).to.equal("422 Invalid value: cluster cannot be unset");
      expect(await say(({ metadata }) => Object.assign(metadata, { labels: { a: "b" } }))).to.equal("200");
      const { body } = await server.get(server.at("root", "workspaces/w0"));
      const ready = await server.send(`PUT ${server.at("root", "workspaces/w0/status")}`, {
        ...body,
        status: { phase: "Ready" },
      });
      expect(refusal(ready)).to.equal("403 spec.URL must be set for phase Ready");
    }));

  it("keep their owner, unless an administrator changes it", () =>
    start(async ({ server, post }) => {
      await post({});
      const owner = async () =>
        (await server.get(server.at("root", "workspaces/w0"))).body.metadata.annotations[OWNER] as unknown;
      const before = await owner();
      expect(before).to.contain('"alice"');
      const other = JSON.stringify({ username: "eve", groups: ["system:kcp:admin"] });
      const says: Change = ({ metadata }) => Object.assign(metadata.annotations, { [OWNER]: other });
      for (const how of [says, (({ metadata }) => delete metadata.annotations) as Change]) {
        expect(await change(server, "w0", [how])).to.equal("200");
        expect(await owner()).to.equal(before);
      }
      expect(await change(server, "w0", [says, "admin"])).to.equal("200");
      expect(await owner()).to.equal(other);
    }));

  it("keep their mount, and follow its URL", () =>
    start(async ({ server, post }) => {
      await post({ spec: { mount: MOUNT } });
      const say = (how: Change, user?: "alice" | "admin") => change(server, "w0", [how, user]);
      expect(await say(({ spec }) => Object.assign(spec.mount.ref, { name: "near" }))).to.equal(
        "422 Invalid value: mount is immutable",
      );
      expect(await say(({ spec }) => delete spec.mount)).to.equal(
        "403 spec.mount cannot be added to or removed from an existing workspace",
      );
      expect(await say(({ spec }) => Object.assign(spec, { URL: "https://evil" }))).to.equal(
        "403 spec.URL can only be changed by system privileged users",
      );
      expect(await say(({ spec }) => Object.assign(spec, { cluster: "victim" }))).to.equal(
        "403 spec.cluster can only be changed by system privileged users",
      );
      expect(await say(({ spec }) => Object.assign(spec, { type: { name: "universal" } }))).to.equal(
        "403 spec.type cannot be set for mounted workspaces",
      );
      expect(await say(({ spec }) => Object.assign(spec, { type: { name: "universal" } }), "admin")).to.equal("200");
      expect(await say(({ metadata }) => Object.assign(metadata, { labels: { a: "b" } }))).to.equal("200");
      expect(await say(({ spec }) => delete spec.type)).to.equal("403 spec.type is immutable");
    }));
});
