// A caller loses the right on the source kind while a watch is open: the watch ends, and no existing object is DELETED.
import { type Forwarded, forward, subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  type ServedResource,
  view,
} from "@virtual-workspaces/framework";
import { memoryStore } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { label, type WatchStream } from "../../_support/plain.ts";
import { bind, makeNamespace, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const root = { user: "root" };
const alice = { user: "alice" };
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "rbac.authorization.k8s.io";
const SUBJECT = { apiGroup: GROUP, kind: "User", name: "alice" };

const ConfigMap = defineResource({ group: "", version: "v1", kind: "ConfigMap", scope: "Namespaced" });
const Secret = defineResource({ group: "", version: "v1", kind: "Secret", scope: "Namespaced" });
const Note = defineResource({ group: "test.dev", version: "v1", kind: "Note", scope: "Namespaced" });

describe("a caller who loses a right on the source kind during a watch", function () {
  this.timeout(60_000);
  const running = new AsyncDisposableStack();
  let server: Workspaces;
  let work: string;

  before(async () => {
    const own = loopback();
    const { upstream, identity } = own;
    const forwarded = new AsyncDisposableStack();
    const of = <T extends object>(storage: Forwarded<T>): Forwarded<T> => forwarded.use(storage);
    const maps = () => of(forward({ resource: ConfigMap, upstream, identity, renewEvery: 500 }));
    const secrets = of(forward({ resource: Secret, upstream, identity, renewEvery: 500 }));
    const shown = view({ from: maps() });
    const noted = view({ from: shown, to: Note, map: () => ({}) });
    const joined = view({ from: maps(), inputs: { secrets }, to: Note, map: () => ({}) });
    const reviewed = subjectAccessReview({ upstream, allowCache: 0 });
    forwarded.use(reviewed);
    const workspace = (name: string, resources: readonly ServedResource[]) =>
      defineVirtualWorkspace({ name, path: "/clusters/:cluster", authorize: authenticated(), resources });
    const both = defineVirtualWorkspace({
      name: "both",
      path: "/clusters/:cluster",
      // The caller keeps the right on the view's own kind.
      authorize: reviewed,
      setup: () => forwarded,
      resources: [Note.serve(noted)],
    });
    server = running.use(
      await startWorkspaces(memoryStore(), {
        loopback: own,
        virtualWorkspaces: [
          workspace("plain", [ConfigMap.serve(maps())]),
          workspace("shown", [ConfigMap.serve(shown)]),
          workspace("joined", [Note.serve(joined)]),
          both,
        ],
      }),
    );
    work = await makeWorkspace(server, "work");
    await makeNamespace(server, work, "desk");
    await post("clusterroles", { kind: "ClusterRole", metadata: { name: "maps" }, rules: [rule("", "configmaps")] });
    await post("clusterroles", { kind: "ClusterRole", metadata: { name: "secrets" }, rules: [rule("", "secrets")] });
    await post("clusterroles", {
      kind: "ClusterRole",
      metadata: { name: "notes" },
      rules: [rule("test.dev", "notes")],
    });
    await bind(server, work, { name: "access", role: "system:kcp:workspace:access", subject: SUBJECT });
    await bind(server, work, { name: "notes", role: "notes", subject: SUBJECT });
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kept" } };
    const made = await server.send(`POST /clusters/${work}/api/v1/namespaces/desk/configmaps`, object, root);
    expect(made.status, made.text).to.equal(201);
  });
  after(() => running.disposeAsync());

  const rule = (group: string, resource: string) => ({
    apiGroups: [group],
    resources: [resource],
    verbs: ["get", "list", "watch"],
  });
  const post = async (plural: string, object: object, place = ""): Promise<void> => {
    const made = await server.send(
      `POST /clusters/${work}${RBAC}${place}/${plural}`,
      { apiVersion: `${GROUP}/v1`, ...object },
      root,
    );
    expect(made.status, made.text).to.equal(201);
  };
  /** Binds a ClusterRole to the caller: in a namespace, or in the whole workspace. @returns its removal */
  const permit = async (role: string, namespace?: string): Promise<() => Promise<void>> => {
    const place = namespace === undefined ? "" : `/namespaces/${namespace}`;
    const kind = namespace === undefined ? "ClusterRoleBinding" : "RoleBinding";
    const plural = `${kind.toLowerCase()}s`;
    const roleRef = { apiGroup: GROUP, kind: "ClusterRole", name: role };
    await post(plural, { kind, metadata: { name: `may-${role}` }, roleRef, subjects: [SUBJECT] }, place);
    return async () => {
      const path = `/clusters/${work}${RBAC}${place}/${plural}/may-${role}` as const;
      expect((await server.send(`DELETE ${path}`, undefined, root)).status).to.equal(200);
    };
  };
  const at = (view: string, tail: string): string => `/services/${view}/clusters/${work}${tail}`;
  const statusOf = async (path: string): Promise<number> => (await server.get(path, alice)).status;
  /** Other objects may follow the expected one. */
  const isNotAdded = (text: string): boolean => !text.startsWith("ADDED ");
  /** Watches until the object is there. */
  const opened = async (path: string): Promise<WatchStream> => {
    const watch = await server.watch(`${path}${path.includes("?") ? "&" : "?"}watch=true`, alice);
    expect(watch.status, path).to.equal(200);
    await watch.until((event) => label(event) === "ADDED kept");
    return watch;
  };
  /** Expects that the watches of all paths end with 410 alone, and that new requests are 403, until the right is back. */
  const expectEnds = async (paths: readonly string[], role: string, namespace?: string): Promise<void> => {
    await using stack = new AsyncDisposableStack();
    const remove = await permit(role, namespace);
    const watches: WatchStream[] = [];
    for (const path of paths) watches.push(stack.use(await opened(path)));
    await remove();
    for (const [index, watch] of watches.entries()) {
      const told = await watch.until((event) => isNotAdded(label(event)));
      expect(told.map(label).filter(isNotAdded), paths[index]).to.deep.equal(["ERROR 410"]);
      expect(told.at(-1)?.object.message, paths[index]).to.contain("cannot be read any more");
    }
    for (const path of paths) {
      expect(await statusOf(path), path).to.equal(403);
      expect(await statusOf(`${path}${path.includes("?") ? "&" : "?"}watch=true`), path).to.equal(403);
    }
    const again = await permit(role, namespace);
    for (const path of paths) stack.use(await opened(path));
    await again();
  };

  const NAMED = "fieldSelector=metadata.name=kept";

  it("gets 410 through forward(), for a name, a namespace and the whole workspace", async () => {
    const paths = [
      at("plain", `/api/v1/namespaces/desk/configmaps?${NAMED}`),
      at("plain", "/api/v1/namespaces/desk/configmaps"),
      at("plain", "/api/v1/configmaps"),
    ];
    await expectEnds(paths, "maps");
    await expectEnds(paths.slice(0, 2), "maps", "desk");
  });

  it("gets 410 through a view over forward(), for a name, a namespace and the whole workspace", async () => {
    await expectEnds(
      [
        at("shown", `/api/v1/namespaces/desk/configmaps?${NAMED}`),
        at("shown", "/api/v1/namespaces/desk/configmaps"),
        at("shown", "/api/v1/configmaps"),
      ],
      "maps",
    );
  });

  it("gets 410 from a view over a view, while the right on the shown kind remains", async () => {
    await expectEnds(
      [
        at("both", `/apis/test.dev/v1/namespaces/desk/notes?${NAMED}`),
        at("both", "/apis/test.dev/v1/namespaces/desk/notes"),
        at("both", "/apis/test.dev/v1/notes"),
      ],
      "maps",
    );
  });

  it("gets 410 from a view when the right on one of its inputs is gone", async () => {
    const remove = await permit("maps");
    await expectEnds([at("joined", "/apis/test.dev/v1/notes")], "secrets");
    await remove();
  });

  it("does not end the watches of another caller", async () => {
    const other = { user: "root" };
    const remove = await permit("maps");
    await using own = await opened(at("shown", "/api/v1/configmaps"));
    await using kept = await server.watch(at("shown", "/api/v1/namespaces/desk/configmaps?watch=true"), other);
    await kept.until((event) => label(event) === "ADDED kept");
    await remove();
    expect((await own.rest()).map(label).filter(isNotAdded)).to.deep.equal(["ERROR 410"]);
    const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "later" } };
    await server.send(`POST /clusters/${work}/api/v1/namespaces/desk/configmaps`, object, root);
    await kept.until((event) => label(event) === "ADDED later");
  });
});
