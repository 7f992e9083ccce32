import {
  type AuthenticatingType,
  type ObjectInCluster,
  WorkspaceAuthentication,
  type WorkspaceAuthenticators,
} from "@virtual-workspaces/kcp/authentication";
import {
  type IndexedLogicalCluster,
  type IndexedWorkspace,
  PathIndex,
  type WorkspaceKey,
} from "@virtual-workspaces/kcp/path-index";

type Names = (names: readonly string[]) => void;

/** Index that reports the names of changed objects: every path that leads elsewhere by a change has one of them. */
export class ObservedIndex extends PathIndex {
  readonly #changed: Names;

  constructor(changed: Names) {
    super();
    this.#changed = changed;
  }

  override setWorkspace(shard: string, workspace: IndexedWorkspace): void {
    super.setWorkspace(shard, workspace);
    this.#changed([workspace.name]);
  }

  override deleteWorkspace(shard: string, key: WorkspaceKey): void {
    super.deleteWorkspace(shard, key);
    this.#changed([key.name]);
  }

  override setLogicalCluster(shard: string, logicalCluster: IndexedLogicalCluster): void {
    super.setLogicalCluster(shard, logicalCluster);
    this.#changed(this.namesOf(logicalCluster.name));
  }

  override deleteLogicalCluster(shard: string, name: string): void {
    const names = this.namesOf(name);
    super.deleteLogicalCluster(shard, name);
    this.#changed(names);
  }
}

/** Authentication of workspace types that reports changes. */
export class ObservedAuthentication extends WorkspaceAuthentication {
  readonly #changed: () => void;

  constructor(changed: () => void) {
    super();
    this.#changed = changed;
  }

  override setType(shard: string, type: AuthenticatingType): void {
    super.setType(shard, type);
    this.#changed();
  }

  override deleteType(shard: string, type: ObjectInCluster): void {
    super.deleteType(shard, type);
    this.#changed();
  }

  override setConfiguration(shard: string, configuration: WorkspaceAuthenticators): void {
    super.setConfiguration(shard, configuration);
    this.#changed();
  }

  override deleteConfiguration(shard: string, configuration: ObjectInCluster): void {
    super.deleteConfiguration(shard, configuration);
    this.#changed();
  }

  override deleteShard(shard: string): void {
    super.deleteShard(shard);
    this.#changed();
  }
}
