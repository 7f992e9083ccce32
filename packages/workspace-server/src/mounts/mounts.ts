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
 * Forwards requests for mounted workspaces. The target of a mount and its connections are kept until its Workspace has
 * another URL, is not Ready, or is gone. Then the requests in flight through it are aborted.
 */
export class Mounts implements AsyncDisposable {
  readonly #options: MountTargetsOptions;
  readonly #targets: MountTargets;
  readonly #open = new Targets<OpenMount>({ isActive: ({ isActive }) => isActive });
  readonly #following: Disposable;

  constructor(options: MountTargetsOptions) {
    this.#options = options;
    this.#targets = new MountTargets(options);
    this.#following = options.registry.eachShard(({ state }) =>
      state.workspaces.onKey(({ key, initial }) => {
        // An existing Workspace has not changed.
        if (initial !== true) this.#look(key);
      }),
    );
  }

  /** @throws ApiError 404, 503, and the errors of a relay */
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
    if (place === undefined) throw new Error("the request is not for a mounted workspace");
    const url = usableMount(this.#options.registry, place);
    return this.#open.of(keyOf(place), url, () => new OpenMount(this.#targetOf(url, place)));
  }

  #targetOf(url: string, { name }: MountedWorkspace): OpenMount["target"] {
    try {
      return this.#targets.at(url);
    } catch (error) {
      throw ApiError.serviceUnavailable(
        `the mount target of workspace ${name} is unusable: ${(error as Error).message}`,
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
 * Returns the URL of a request's mounted workspace if it is usable: Ready, with a URL.
 *
 * @throws ApiError 404 if it does not exist, or for a workspace below it; 503 if it is unusable, with why and since when
 */
function usableMount(registry: ShardRegistry, place: MountedWorkspace): string {
  const workspace = workspaceAt(registry, place);
  const path = `${registry.pathOf(place.cluster) ?? place.cluster}:${place.name}`;
  if (workspace === undefined || !isMounted(workspace))
    throw ApiError.notFound({ group: TENANCY_GROUP, resource: "workspaces" }, path);
  if (place.below !== "")
    throw ApiError.notFoundPath(
      `the workspace ${path} is mounted, so this server serves no workspaces below it: use the server or the workspace that it leads to`,
    );
  const url = usableURL(workspace);
  if (url === undefined) throw unusable(workspace, path);
  return url;
}

/** Returns the URL of a mounted workspace while it is usable. */
function usableURL({ spec, status }: Workspace): string | undefined {
  // The phase is written a moment after the condition.
  const isReady = status?.phase === "Ready" && !isConditionFalse(status.conditions, MOUNT_READY_CONDITION);
  return isReady && spec.URL ? spec.URL : undefined;
}

/**
 * Names the mount object, and the Workspace's phase and condition. Security: everyone who may enter the parent reads it, so it
 * has nothing of the object's status. The object is of any kind, and its controller writes for those who may read it.
 */
function unusable({ metadata, spec, status }: Workspace, path: string): ApiError {
  const { kind = "", name = "" } = spec.mount?.ref ?? {};
  const { phase = "Scheduling", conditions } = status ?? {};
  const condition = getCondition(conditions, MOUNT_READY_CONDITION);
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp ?? "";
  const why = condition?.message ? `: ${condition.message}` : "";
  return mountNotReady(
    `the workspace ${path} is mounted on ${kind} ${JSON.stringify(name)}, which is not ready: the Workspace is in the phase ${phase} since ${since}${why}`,
  );
}
