import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { relay, sameCaller } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  allow,
  type Decision,
  deny,
  type RawRequest,
  User,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { type PolicyRule, ruleAllows } from "@virtual-workspaces/framework/authz";
import { deriveRequest } from "@virtual-workspaces/framework/request";
import { type LogicalCluster, type OwningType, parseLifecycleName } from "@virtual-workspaces/kcp";
import type { Upstream } from "@virtual-workspaces/transport";
import type { Phase } from "./phase.ts";
import type { LifecycleParams, WaitingWorkspaces, WorkspaceRequest } from "./waiting.ts";
import type { WorkspaceTypes } from "./workspace-types.ts";

/** Options of {@link Content}. */
export interface ContentOptions {
  readonly phase: Phase;
  readonly workspaces: Pick<WaitingWorkspaces, "find">;
  readonly types: WorkspaceTypes;
}

/** Logical cluster in names without a type, such as `system:apibindings`. */
const SYSTEM = "system";

/**
 * Access of a controller to the content of a waiting workspace (kcp's workspace-content parts). With permissions in the type,
 * requests have the caller's identity, marked as authorized for the shard. Without them, requests have the owner's identity and
 * rights, if the phase allows it. Security: a type that cannot be found allows nothing.
 */
export class Content {
  readonly #options: ContentOptions;

  constructor(options: ContentOptions) {
    this.#options = options;
  }

  /** @throws ApiError 503 when the type is unknown, 500 when the workspace has no owner to act as */
  async decide(request: AuthorizeRequest<LifecycleParams>): Promise<Decision> {
    const { phase, workspaces } = this.#options;
    const found = await workspaces.find(request);
    if (found === undefined) return deny(this.#refusal(request.params));
    const rules = await this.#rules(request);
    if (rules.length === 0 && phase.asOwner) {
      ownerOf(found);
      return allow();
    }
    if (rules.some((rule) => ruleAllows(rule, request))) return allow();
    return deny(`${phase.permissions} of the workspace type have no rule that allows it`);
  }

  /** Returns the identity for requests to the workspace. @throws ApiError like {@link decide}, and 403 when it no longer waits */
  async identity(user: User, asked: WorkspaceRequest): Promise<User> {
    const { phase, workspaces } = this.#options;
    const found = await workspaces.find(asked);
    if (found === undefined)
      throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: this.#refusal(asked.params) });
    if (phase.asOwner && (await this.#rules(asked)).length === 0) return ownerOf(found);
    return phase.as(user, asked.params);
  }

  /** Returns the type's rules. Without any, the owner's rights apply, or none. */
  async #rules({
    params: { holder },
    signal,
  }: Pick<WorkspaceRequest, "params" | "signal">): Promise<readonly PolicyRule[]> {
    const { phase, types } = this.#options;
    const of = parseLifecycleName(holder) as OwningType;
    if (of.cluster === SYSTEM) return [];
    const found = await types.find(of, signal);
    if (found !== undefined) return found.spec?.[phase.permissions] ?? [];
    throw ApiError.serviceUnavailable(
      `cannot find the workspace type of the ${phase.holder} ${quote(holder)}, so its permissions are unknown: try again`,
    );
  }

  #refusal({ holder }: LifecycleParams): string {
    return `${this.#options.phase.holder} ${quote(holder)} cannot access this workspace`;
  }
}

/** @throws ApiError 500 */
function ownerOf({ spec: { createdBy } }: LogicalCluster): User {
  if (createdBy === undefined)
    throw ApiError.internalError("spec.createdBy of the LogicalCluster is missing: the server cannot act as its owner");
  const { username: name = "", uid = "", groups = [], extra = {} } = createdBy;
  return new User({ name, uid, groups, extra });
}

/** Options of {@link contentRelay}. */
interface ContentRelayOptions {
  readonly upstream: Upstream;
  readonly content: Content;
  readonly onError: (error: unknown) => void;
}

type Handlers = Required<Pick<VirtualWorkspace<LifecycleParams>, "handle" | "upgrade">>;

const CLUSTERS = "/clusters/";

/** Forwards requests to their workspace, with the identity of {@link Content.identity}. */
export function contentRelay({ upstream, content, onError }: ContentRelayOptions): Handlers {
  const { handle, upgrade } = relay({
    upstream,
    identity: sameCaller,
    path: ({ prefix, tail }) => prefix.slice(prefix.lastIndexOf(CLUSTERS)) + tail,
    what: "the server of this workspace",
    onError,
  });
  const asking = async <R extends RawRequest<LifecycleParams>>(request: R): Promise<R> => {
    const user = await content.identity(request.user, request);
    return deriveRequest(request, { user });
  };
  return {
    handle: async (req, res, request) => handle(req, res, await asking(request)),
    upgrade: async (req, socket, request) => upgrade(req, socket, await asking(request)),
  };
}
