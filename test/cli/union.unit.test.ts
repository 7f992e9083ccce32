// Security: the view over all views shows no user more than the views themselves.
import {
  type Authorizer,
  allow,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { unionOf } from "../../packages/cli/src/dev/union.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const admins: Authorizer = ({ user }) => (user.in("admins") ? allow() : deny("admins only"));
const everybody: Authorizer = () => allow();

function served(kind: string, object: string): ServedResource {
  const resource = defineResource({
    group: "test.dev",
    version: "v1",
    kind,
    scope: "Cluster",
    spec: { type: "object" },
  });
  const objects = resource.collection();
  objects.in("root").set(object, {});
  return resource.serve(objects);
}

function viewOf(name: string, authorize: Authorizer, resources: VirtualWorkspace["resources"]): VirtualWorkspace {
  return defineVirtualWorkspace({
    name,
    path: "/clusters/:cluster",
    authorize,
    ...(resources === undefined ? { handle: (_req, res) => void res.end() } : { resources }),
  });
}

const ROOT = "/services/all/clusters/root";

describe("the view over all views", () => {
  async function start(views: readonly VirtualWorkspace[]): Promise<PlainServer> {
    const all = unionOf("all", views);
    if (all === undefined) throw new Error("nothing to unite");
    return startPlain([...views, all]);
  }

  const kinds = async (server: PlainServer, user: "alice" | "admin"): Promise<string[]> =>
    (await server.get(`${ROOT}/apis/test.dev/v1`, { user })).body.resources?.map(({ name }: { name: string }) => name);
  const names = async (server: PlainServer, resource: string, user: "alice" | "admin"): Promise<unknown> => {
    const { status, body } = await server.get(`${ROOT}/apis/test.dev/v1/${resource}`, { user });
    return status === 200 ? body.items.map((item: { metadata: { name: string } }) => item.metadata.name) : status;
  };

  it("serves the resources of each view by that view's own rule", async () => {
    await using server = await start([
      viewOf("open", everybody, [served("Note", "a")]),
      viewOf("closed", admins, [served("Secret", "b")]),
    ]);
    expect(await kinds(server, "admin")).to.deep.equal(["notes", "secrets"]);
    expect(await kinds(server, "alice")).to.deep.equal(["notes"]);
    expect(await names(server, "secrets", "admin")).to.deep.equal(["b"]);
    expect(await names(server, "secrets", "alice")).to.equal(404);
    expect(await names(server, "nothing", "alice")).to.equal(404);
  });

  it("calls the owner's authorize for each object, not only for discovery", async () => {
    const noReading: Authorizer = ({ isResource }) => (isResource ? deny("look, do not touch") : allow());
    await using server = await start([viewOf("window", noReading, [served("Note", "a")])]);
    expect(await kinds(server, "alice")).to.deep.equal(["notes"]);
    expect(await names(server, "notes", "alice")).to.equal(403);
  });

  it("denies users whom every view denies, with the views' reasons", async () => {
    const mute: Authorizer = () => deny("");
    await using server = await start([
      viewOf("closed", admins, [served("Secret", "b")]),
      viewOf("locked", admins, [served("Key", "c")]),
      viewOf("mute", mute, [served("Note", "a")]),
      viewOf("teams", () => deny("ask for a team"), [served("Task", "d")]),
    ]);
    for (const path of ["/apis", "/apis/test.dev/v1/secrets"]) {
      const { status, body } = await server.get(ROOT + path, { user: "alice" });
      expect(status, path).to.equal(403);
      expect(body.message, path).to.match(/: admins only; ask for a team$/);
    }
  });

  it("says that no view allows it when no view gives a reason", async () => {
    await using server = await start([viewOf("mute", () => deny(""), [served("Note", "a")])]);
    expect((await server.get(`${ROOT}/apis`, { user: "alice" })).body.message).to.match(/: no view allows it$/);
  });

  it("serves the first of two resources of one name, and never by the rule of the other", async () => {
    const canList: Authorizer = ({ isResource, user }) =>
      isResource || user.in("admins") ? allow() : deny("no discovery");
    await using server = await start([
      viewOf("first", canList, [served("Note", "of-the-first")]),
      viewOf("second", admins, [served("Note", "of-the-second")]),
    ]);
    expect(await kinds(server, "admin")).to.deep.equal(["notes"]);
    expect(await names(server, "notes", "admin")).to.deep.equal(["of-the-first"]);
    expect(await names(server, "notes", "alice"), "neither lets alice discover it").to.equal(403);
  });

  it("serves the resources that were authorized, although a discovery hook changes its result in between", async () => {
    const [mine, theirs] = [served("Note", "mine"), served("Note", "theirs")];
    let asked = 0;
    await using server = await start([
      viewOf("fickle", everybody, () => (asked++ % 2 === 0 ? [mine] : [])),
      viewOf("strict", ({ isResource }) => (isResource ? deny("never") : allow()), [theirs]),
    ]);
    const answers = [];
    for (let at = 0; at < 4; at++) answers.push(await names(server, "notes", "alice"));
    expect(answers).to.deep.equal([["mine"], 403, ["mine"], 403]);
  });

  it("ends watches of resources that a hook no longer serves", async () => {
    const resources: ServedResource[] = [served("Note", "a")];
    await using server = await start([viewOf("shrinking", everybody, () => [...resources])]);
    await using watch = await server.watch(`${ROOT}/apis/test.dev/v1/notes?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    resources.pop();
    expect(await watch.take(1)).to.deep.equal(["ERROR 410"]);
  });

  it("is ready when all views are", async () => {
    const late = {
      ...viewOf("late", everybody, [served("Note", "a")]),
      ready: () => Promise.reject(new Error("not yet")),
    };
    const all = unionOf("all", [late, viewOf("open", everybody, [served("Secret", "b")])]);
    const signal = AbortSignal.abort();
    const outcome = await Promise.resolve(all?.ready?.({ signal })).catch((error: Error) => error.message);
    expect(outcome).to.equal("not yet");
  });

  it("does not exist when no views can be combined", () => {
    const elsewhere = defineVirtualWorkspace({ name: "x", path: "/", authorize: () => allow(), resources: [] });
    expect(unionOf("all", [elsewhere, viewOf("raw", everybody, undefined)])).to.equal(undefined);
  });
});
