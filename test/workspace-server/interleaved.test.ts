// Why: many users ask one process about many workspaces, over shared caches and shared streams. Whatever else is under way,
// nobody is answered with what is another's, nor let in where they may not be.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import type { WatchEvent } from "../_support/plain.ts";
import { Random } from "../_support/random.ts";
import { define, makeAdmin, makeWorkspace } from "./support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "./support/workspaces.ts";

const WORKSPACES = 40;
const REQUESTS = 1_000;
const AT_ONCE = 50;
const MAPS = "/api/v1/namespaces/default/configmaps";
const WIDGETS = "/apis/example.dev/v1/widgets";

const userOf = (at: number): string => `user-${at}`;
const clusterOf = (at: number): string => `workspace-${at}`;

/** Each workspace is one user's, and its kind has a field that no other's has. */
async function start(): Promise<Workspaces> {
  const users = Array.from({ length: WORKSPACES }, (_, at) => userOf(at));
  const server = await startWorkspaces(memoryStore(), { users });
  for (const [at, user] of users.entries()) {
    const cluster = clusterOf(at);
    await makeWorkspace(server, cluster);
    await makeAdmin(server, cluster, user);
    await define(server, cluster, [widgets(cluster)]);
    for (const name of ["a", "b"])
      await write(server, `POST /clusters/${cluster}${MAPS}`, { at, object: map(name, cluster) });
    const widget = {
      apiVersion: "example.dev/v1",
      kind: "Widget",
      metadata: { name: "a" },
      [fieldOf(cluster)]: cluster,
    };
    await write(server, `POST /clusters/${cluster}${WIDGETS}`, { at, object: widget });
  }
  return server;
}

const fieldOf = (cluster: string): string => `of${cluster.replace("-", "")}`;
const map = (name: string, cluster: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { cluster },
});
const widgets = (cluster: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.dev" },
  spec: {
    group: "example.dev",
    scope: "Cluster",
    names: { plural: "widgets", kind: "Widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", properties: { [fieldOf(cluster)]: { type: "string" } } } },
      },
    ],
  },
});

interface Written {
  readonly at: number;
  readonly object: object;
}

async function write(server: Workspaces, call: `POST /${string}`, { at, object }: Written): Promise<void> {
  const made = await server.send(call, object, { user: userOf(at) });
  expect(made.status, made.text).to.equal(201);
}

/** Where an answer says that it is from: names of workspaces, and of fields that only one has. */
function placesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/workspace-?(\d+)/g)].map(([, at]) => clusterOf(Number(at))))];
}

describe("many users of many workspaces at once", function () {
  this.timeout(120_000);
  let server: Workspaces;

  before(async () => {
    server = await start();
  });

  after(() => server[Symbol.asyncDispose]());

  it("are answered 1,000 times in any order, with what is theirs and nothing else", async () => {
    const random = new Random(7);
    const tokens = new Map<number, string>();
    for (let at = 0; at < WORKSPACES; at++) {
      const { body } = await server.get(`/clusters/${clusterOf(at)}${MAPS}?limit=1`, { user: userOf(at) });
      tokens.set(at, body.metadata.continue);
    }
    /** What a user does in a workspace. @returns the texts that came, and whether it was let in */
    const ways: ((user: string, cluster: string, other: number) => Promise<readonly [number, string]>)[] = [
      async (user, cluster) => got(`/clusters/${cluster}${MAPS}/a`, user),
      async (user, cluster) => got(`/clusters/root:${cluster}${MAPS}`, user),
      async (user, cluster) => got(`/clusters/${cluster}${WIDGETS}`, user),
      async (user, cluster) => got(`/clusters/${cluster}/openapi/v3/apis/example.dev/v1`, user),
      async (user, cluster, other) =>
        got(`/clusters/${cluster}${MAPS}?limit=9&continue=${encodeURIComponent(tokens.get(other) ?? "")}`, user),
      async (user, cluster) => {
        const object = map(`x-${random.below(1e9)}`, cluster);
        const { status, text } = await server.send(`POST /clusters/${cluster}${MAPS}`, object, { user });
        return [status, text];
      },
      async (user, cluster) => watched(`/clusters/${cluster}${MAPS}?watch=true`, user),
      async (user, cluster) => watched(`/clusters/root:${cluster}${WIDGETS}?watch=true&resourceVersion=0`, user),
    ];
    const got = async (path: string, user: string): Promise<readonly [number, string]> => {
      const { status, text } = await server.get(path, { user });
      return [status, text];
    };
    const watched = async (path: string, user: string): Promise<readonly [number, string]> => {
      await using watch = await server.watch(path, { user });
      if (watch.status !== 200) return [watch.status, ""];
      const seen: WatchEvent[] = [await watch.next()];
      return [200, JSON.stringify(seen)];
    };
    const counts = { own: 0, refused: 0 };
    const one = async (): Promise<void> => {
      const [at, other] = [random.below(WORKSPACES), random.below(WORKSPACES)];
      const own = random.chance(0.6) || other === at;
      const cluster = clusterOf(own ? at : other);
      const [status, text] = await random.pick(ways)(userOf(at), cluster, other);
      if (own) {
        counts.own++;
        expect(status, text).to.be.oneOf([200, 201, 410]);
        if (status !== 410) expect(placesIn(text), text).to.have.members(placesIn(text).length === 0 ? [] : [cluster]);
      } else {
        counts.refused++;
        expect(status, text).to.equal(403);
        expect(placesIn(text.replaceAll(`/clusters/${cluster}`, "")), text).to.deep.equal([]);
      }
    };
    for (let done = 0; done < REQUESTS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, one));
    expect(counts.own).to.be.above(REQUESTS / 3);
    expect(counts.refused).to.be.above(REQUESTS / 4);
  });
});
