import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, type ObjectKey } from "@virtual-workspaces/apimachinery";
import type { RawRequest } from "@virtual-workspaces/framework";
import { Targets } from "@virtual-workspaces/framework/proxy";
import { MOUNT_READY_CONDITION, TENANCY_GROUP, type Workspace } from "@virtual-workspaces/kcp";
import { getCondition, isConditionFalse } from "@virtual-workspaces/kcp/conditions";
import { mountNotReady } from "@virtual-workspaces/kcp/targets";
import { isMounted, type MountedWorkspace, mountedWorkspaceOf, workspaceAt } from "../state/mounted-workspace.ts";
import type { ShardRegistry } from "../state/shard-registry.ts";
import { OpenMount } from "./open-mount.ts";
import { MountTargets, type MountTargetsOptions } from "./targets.ts";

type Request = RawRequest<Readonly<Record<string, string>>>;

/**
 * Passes on what is asked of mounted workspaces. What a mount leads to is kept, with its connections, until its Workspace has another
 * URL, is not Ready any more, or is gone: then what is open through it ends.
 */
export class Mounts implements AsyncDisposable {
  readonly #options: MountTargetsOptions;
  readonly #targets: MountTargets;
  readonly #open = new Targets<OpenMount>({ isActive: ({ isActive }) => isActive });
  readonly #following: Disposable;

  constructor(options: MountTargetsOptions) {
    this.#options = options;
    this.#targets = new MountTargets(options);
    this.#following = options.registry.eachShard(({ state }) => state.workspaces.onKey(({ key }) => this.#look(key)));
  }

  /** @throws ApiError 404, 503, and what a relay throws */
  readonly handle = async (req: IncomingMessage, res: ServerResponse, request: Request): Promise<void> => {
    const mount = this.#mountOf(request);
    await mount.pass(request, (passed) => mount.target.relay.handle(req, res, passed));
  };

  /** @throws as {@link handle} */
  readonly upgrade = async (
    req: IncomingMessage,
    socket: Duplex,
    request: Request & { readonly head: Buffer },
  ): Promise<void> => {
    const mount = this.#mountOf(request);
    await mount.pass(request, (passed) => mount.target.relay.upgrade(req, socket, passed));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#open[Symbol.asyncDispose]();
  }

  #mountOf({ params }: Request): OpenMount {
    const place = mountedWorkspaceOf(params);
    if (place === undefined) throw new Error("a request that is for no mounted workspace");
    const url = usableMount(this.#options.registry, place);
    return this.#open.of(keyOf(place), url, () => new OpenMount(this.#targetOf(url, place)));
  }

  #targetOf(url: string, { name }: MountedWorkspace): OpenMount["target"] {
    try {
      return this.#targets.at(url);
    } catch (error) {
      throw ApiError.serviceUnavailable(
        `nobody can be asked on whom the workspace ${name} is mounted: ${(error as Error).message}`,
      );
    }
  }

  #look(key: ObjectKey): void {
    const workspace = workspaceAt(this.#options.registry, key);
    this.#open.delete(keyOf(key), workspace && usableURL(workspace));
  }
}

function keyOf({ cluster, name }: Pick<MountedWorkspace, "cluster" | "name">): string {
  return `${cluster}|${name}`;
}

/**
 * Where the mounted workspace of a request leads, if it can be used: Ready, with a URL.
 *
 * @throws ApiError 404 when there is none, or for what is behind one; 503 with what keeps it from being used, and since when
 */
function usableMount(registry: ShardRegistry, place: MountedWorkspace): string {
  const workspace = workspaceAt(registry, place);
  const path = `${registry.pathOf(place.cluster) ?? place.cluster}:${place.name}`;
  if (workspace === undefined || !isMounted(workspace))
    throw ApiError.notFound({ group: TENANCY_GROUP, resource: "workspaces" }, path);
  if (place.below !== "")
    throw ApiError.notFoundPath(
      `the workspace ${path} is mounted, and what is behind a mount has no workspaces of this server: ask ${path} itself`,
    );
  const url = usableURL(workspace);
  if (url === undefined) throw unusable(workspace, path);
  return url;
}

/** Where a mounted workspace leads, while it may be used. */
function usableURL({ spec, status }: Workspace): string | undefined {
  // The phase is written a moment after the condition.
  const isReady = status?.phase === "Ready" && !isConditionFalse(status.conditions, MOUNT_READY_CONDITION);
  return isReady && spec.URL ? spec.URL : undefined;
}

function unusable({ metadata, spec, status }: Workspace, path: string): ApiError {
  const { kind = "", name = "" } = spec.mount?.ref ?? {};
  const { phase = "Scheduling", conditions } = status ?? {};
  const condition = getCondition(conditions, MOUNT_READY_CONDITION);
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp ?? "";
  const why = condition?.message ? `: ${condition.message}` : "";
  return mountNotReady(
    `the workspace ${path} is mounted on ${kind} ${JSON.stringify(name)}, which is not ready: it is in the phase ${phase} since ${since}${why}`,
  );
}
