// Why: many users share one process with its caches and streams. Concurrent requests must never return another user's
// objects, or give access to another workspace.
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { crd } from "../_support/crd.ts";
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
const nameOf = (at: number): string => `workspace-${at}`;

/** Logical clusters of the workspaces, by name. */
type Clusters = Map<string, string>;

/** Starts a server where each workspace belongs to one user, and has a kind with a field of its own. */
async function start(clusters: Clusters): Promise<Workspaces> {
  const users = Array.from({ length: WORKSPACES }, (_, at) => userOf(at));
  const server = await startWorkspaces(memoryStore(), { users });
  for (const [at, user] of users.entries()) {
    const name = nameOf(at);
    const cluster = await makeWorkspace(server, name);
    clusters.set(name, cluster);
    await makeAdmin(server, cluster, user);
    await define(server, cluster, [widgets(name)]);
    for (const kept of ["a", "b"])
      await write(server, `POST /clusters/${cluster}${MAPS}`, { at, object: map(kept, name) });
    const widget = { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "a" }, [fieldOf(name)]: name };
    await write(server, `POST /clusters/${cluster}${WIDGETS}`, { at, object: widget });
  }
  return server;
}

const fieldOf = (workspace: string): string => `of${workspace.replace("-", "")}`;
const map = (name: string, workspace: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { workspace },
});
const widgets = (workspace: string): object =>
  crd("Widget", { scope: "Cluster", properties: { [fieldOf(workspace)]: { type: "string" } } });

interface Writable {
  readonly at: number;
  readonly object: object;
}

async function write(server: Workspaces, call: `POST /${string}`, { at, object }: Writable): Promise<void> {
  const made = await server.send(call, object, { user: userOf(at) });
  expect(made.status, made.text).to.equal(201);
}

/** Returns the workspaces that a response mentions, by their names and unique fields. */
function placesIn(text: string): string[] {
  return [...new Set([...text.matchAll(/workspace-?(\d+)/g)].map(([, at]) => nameOf(Number(at))))];
}

describe("concurrent users of many workspaces", function () {
  this.timeout(120_000);
  let server: Workspaces;

  const clusters: Clusters = new Map();

  before(async () => {
    server = await start(clusters);
  });

  after(() => server[Symbol.asyncDispose]());

  it("get only their own objects in 1,000 requests in random order", async () => {
    const random = new Random(7);
    const tokens = new Map<number, string>();
    for (let at = 0; at < WORKSPACES; at++) {
      const { body } = await server.get(`/clusters/root:${nameOf(at)}${MAPS}?limit=1`, { user: userOf(at) });
      tokens.set(at, body.metadata.continue);
    }
    /** Requests of a user in a workspace, by path or logical cluster. @returns the code and the body */
    const ways: ((user: string, place: string, other: number) => Promise<readonly [number, string]>)[] = [
      async (user, place) => got(`/clusters/${place}${MAPS}/a`, user),
      async (user, place) => got(`/clusters/${place}${MAPS}`, user),
      async (user, place) => got(`/clusters/${place}${WIDGETS}`, user),
      async (user, place) => got(`/clusters/${place}/openapi/v3/apis/example.dev/v1`, user),
      async (user, place, other) =>
        got(`/clusters/${place}${MAPS}?limit=9&continue=${encodeURIComponent(tokens.get(other) ?? "")}`, user),
      async (user, place) => {
        const object = map(`x-${random.below(1e9)}`, user.replace("user", "workspace"));
        const { status, text } = await server.send(`POST /clusters/${place}${MAPS}`, object, { user });
        return [status, text];
      },
      async (user, place) => watched(`/clusters/${place}${MAPS}?watch=true`, user),
      async (user, place) => watched(`/clusters/${place}${WIDGETS}?watch=true&resourceVersion=0`, user),
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
      const name = nameOf(own ? at : other);
      const place = random.chance(0.5) ? `root:${name}` : (clusters.get(name) ?? "");
      const [status, text] = await random.pick(ways)(userOf(at), place, other);
      if (own) {
        counts.own++;
        expect(status, text).to.be.oneOf([200, 201, 410]);
        if (status !== 410) expect(placesIn(text), text).to.have.members(placesIn(text).length === 0 ? [] : [name]);
      } else {
        counts.refused++;
        expect(status, text).to.equal(403);
        expect(placesIn(text.replaceAll(`/clusters/${place}`, "")), text).to.deep.equal([]);
      }
    };
    for (let done = 0; done < REQUESTS; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, one));
    expect(counts.own).to.be.above(REQUESTS / 3);
    expect(counts.refused).to.be.above(REQUESTS / 4);
  });
});
