// The workspaces that somebody may enter, as one live tree: read by several users while permissions come and go.
import { expect } from "chai";
import type { Answer, WatchEvent } from "../../_support/plain.ts";
import { bind, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";

const TENANCY = "/apis/tenancy.kcp.io/v1alpha1/workspaces";
const tree = (cluster = "*") => `/services/workspaces/clusters/${cluster}${TENANCY}` as const;
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const INITIAL = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
const root = { user: "root" };
const alice = { user: "alice" };
const bob = { user: "bob" };
const ACCESS = "system:kcp:workspace:access";
const userSubject = (name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "User", name });

describe("the tree of workspaces", function () {
  this.timeout(30_000);
  let server: Workspaces;
  const clusters: Record<string, string> = {};

  before(async () => {
    server = await startWorkspaces();
    for (const name of ["one", "two"]) clusters[name] = await makeWorkspace(server, name);
  });
  after(() => server[Symbol.asyncDispose]());

  it("x", async () => {
    const { text, status } = await server.get(tree(), root);
    console.log(status, text);
    await bind(server, clusters["one"] ?? "", { name: "in", role: ACCESS, subject: userSubject("alice") });
    console.log((await server.get(tree(), alice)).text);
    console.log((await server.get(tree(), bob)).text);
    console.log((await server.get(`${tree("root")}/one`, alice)).status, (await server.get(`${tree("root")}/one`, bob)).text);
  });
});
