// A slow model of the index: it searches the last report of each shard on each object every time.
import type {
  IndexedLogicalCluster,
  IndexedWorkspace,
  Lookup,
  PathIndex,
  WorkspaceKey,
} from "@virtual-workspaces/kcp/path-index";

export type Change =
  | { shard: string; set: "shard"; baseURL: string }
  | { shard: string; set: "workspace"; workspace: IndexedWorkspace }
  | { shard: string; set: "logicalCluster"; logicalCluster: IndexedLogicalCluster }
  | { shard: string; delete: "shard" }
  | { shard: string; delete: "workspace"; workspace: WorkspaceKey }
  | { shard: string; delete: "logicalCluster"; name: string };

export function play(index: PathIndex, change: Change): void {
  if ("set" in change) {
    if (change.set === "shard") index.setShard(change.shard, { baseURL: change.baseURL });
    else if (change.set === "workspace") index.setWorkspace(change.shard, change.workspace);
    else index.setLogicalCluster(change.shard, change.logicalCluster);
  } else if (change.delete === "shard") index.deleteShard(change.shard);
  else if (change.delete === "workspace") index.deleteWorkspace(change.shard, change.workspace);
  else index.deleteLogicalCluster(change.shard, change.name);
}

export class Model {
  #workspaces: (IndexedWorkspace & { shard: string })[] = [];
  #clusters: (IndexedLogicalCluster & { shard: string })[] = [];
  /** Names of logical clusters, and `<cluster>/<name>` of workspaces. */
  #deleted: { readonly shard: string; readonly what: string }[] = [];
  readonly #urls = new Map<string, string>();

  play(change: Change): void {
    const { shard } = change;
    if ("set" in change) {
      if (change.set === "shard") this.#urls.set(shard, change.baseURL);
      else if (change.set === "workspace") {
        const { cluster, name } = change.workspace;
        this.play({ shard, delete: "workspace", workspace: { cluster, name } });
        this.#workspaces.push({ ...change.workspace, shard });
        this.#isBack(shard, `${cluster}/${name}`);
      } else {
        this.play({ shard, delete: "logicalCluster", name: change.logicalCluster.name });
        this.#clusters.push({ ...change.logicalCluster, shard });
        this.#isBack(shard, change.logicalCluster.name);
      }
    } else if (change.delete === "shard") {
      this.#urls.delete(shard);
      this.#workspaces = this.#workspaces.filter((known) => known.shard !== shard);
      this.#clusters = this.#clusters.filter((known) => known.shard !== shard);
      this.#deleted = this.#deleted.filter((known) => known.shard !== shard);
    } else if (change.delete === "workspace") {
      const { cluster, name } = change.workspace;
      const others = this.#workspaces.filter(
        (known) => known.shard !== shard || known.cluster !== cluster || known.name !== name,
      );
      if (others.length < this.#workspaces.length) this.#deleted.push({ shard, what: `${cluster}/${name}` });
      this.#workspaces = others;
    } else {
      const others = this.#clusters.filter((known) => known.shard !== shard || known.name !== change.name);
      if (others.length < this.#clusters.length) this.#deleted.push({ shard, what: change.name });
      this.#clusters = others;
    }
  }

  #isBack(shard: string, what: string): void {
    this.#deleted = this.#deleted.filter((known) => known.shard !== shard || known.what !== what);
  }

  cluster(name: string): (IndexedLogicalCluster & { shard: string }) | undefined {
    const [first] = this.#clusters.filter((known) => known.name === name).sort((a, b) => (a.shard < b.shard ? -1 : 1));
    return first;
  }

  workspaceOf(name: string): { cluster: string; name: string; shard: string } | undefined {
    if (this.cluster(name) === undefined) return undefined;
    const [first] = this.#counting()
      .filter(({ target }) => target === name)
      .sort((a, b) => (a.cluster === b.cluster ? (a.name < b.name ? -1 : 1) : a.cluster < b.cluster ? -1 : 1));
    return first && { cluster: first.cluster, name: first.name, shard: first.shard };
  }

  pathOf(cluster: string): string | undefined {
    if (this.cluster(cluster) === undefined) return undefined;
    let names = "";
    const seen = new Set<string>();
    for (let at = cluster; ; ) {
      const path = this.cluster(at)?.path;
      if (path !== undefined) return path + names;
      const workspace = this.workspaceOf(at);
      if (workspace === undefined) return at + names;
      if (seen.has(at)) return cluster;
      seen.add(at);
      names = `:${workspace.name}${names}`;
      at = workspace.cluster;
    }
  }

  lookup(path: string): Lookup {
    const [first = "", ...rest] = path.split(":");
    let at = this.cluster(first);
    if (at === undefined) return this.#withoutCluster(first, first);
    let unavailable: string | undefined;
    for (const [depth, name] of rest.entries()) {
      const parent = at;
      const said = [first, ...rest.slice(0, depth + 1)].join(":");
      const workspace = this.#workspaces.find(
        (known) => known.shard === parent.shard && known.cluster === parent.name && known.name === name,
      );
      if (workspace === undefined) {
        const wasThere = this.#deleted.some(
          ({ shard, what }) => shard === parent.shard && what === `${parent.name}/${name}`,
        );
        return wasThere ? gone(said) : unknown(said);
      }
      if (workspace.phase === "Scheduling") return pending(said);
      if (workspace.phase === "Unavailable") unavailable = said;
      if (workspace.target === undefined) {
        if (!workspace.mountURL?.startsWith("https://")) return pending(said);
        if (unavailable !== undefined) return outOfOrder(unavailable);
        const { shard, cluster, mountURL: url } = workspace;
        const mounted = { shard, cluster, name };
        const beyond = rest.slice(depth + 1).join(":");
        return { kind: "mount", url, workspace: mounted, path: `${this.pathOf(cluster)}:${name}`, rest: beyond };
      }
      at = this.cluster(workspace.target);
      if (at === undefined) return this.#withoutCluster(workspace.target, said);
    }
    if (unavailable !== undefined) return outOfOrder(unavailable);
    const { name: cluster, shard, type } = at;
    const baseURL = this.#urls.get(shard);
    if (baseURL === undefined) return pending(path);
    const whole = this.pathOf(cluster) ?? "";
    return { kind: "cluster", cluster, shard, baseURL, virtualWorkspaceURL: undefined, path: whole, type };
  }

  #withoutCluster(name: string, said: string): Lookup {
    if (this.#deleted.some(({ what }) => what === name)) return gone(said);
    const isSpokenOf = this.#workspaces.some(
      ({ cluster, target, phase }) => cluster === name || (target === name && phase !== "Scheduling"),
    );
    return isSpokenOf ? pending(said) : unknown(said);
  }

  logicalClusters(shard: string): number {
    return this.#clusters.filter((known) => known.shard === shard).length;
  }

  /** Returns the workspaces with a target on the shard of their logical cluster. */
  #counting(): (IndexedWorkspace & { shard: string })[] {
    return this.#workspaces.filter(
      ({ cluster, shard, phase }) => this.cluster(cluster)?.shard === shard && phase !== "Scheduling",
    );
  }
}

const unknown = (path: string): Lookup => ({ kind: "unknown", reason: `workspace ${path} is not known` });
const pending = (path: string): Lookup => ({
  kind: "pending",
  reason: `workspace ${path} is not ready yet: try again later`,
});
const gone = (path: string): Lookup => ({ kind: "gone", reason: `workspace ${path} was deleted` });

function outOfOrder(path: string): Lookup {
  return { kind: "unavailable", code: 503, reason: `workspace ${path} is not available: try again later` };
}
