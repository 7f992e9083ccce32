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

/** What is known of workspaces and their types. */
export interface ContentOptions {
  readonly phase: Phase;
  readonly workspaces: Pick<WaitingWorkspaces, "find">;
  readonly types: WorkspaceTypes;
}

/** The logical cluster of what no type stands behind, as `system:apibindings`. */
const SYSTEM = "system";

/**
 * What a controller may have of a workspace that waits for it, and as whom (kcp's workspace-content parts): what the type says, as
 * the caller with what tells the shard that it is allowed; where the type says nothing, what the owner may, as the owner, if
 * the phase has it so. Where a type cannot be found nothing is allowed.
 */
export class Content {
  readonly #options: ContentOptions;

  constructor(options: ContentOptions) {
    this.#options = options;
  }

  /** @throws ApiError 503 when nobody knows the type, 500 when a workspace without an owner is to be had as its owner */
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

  /** As whom the workspace is asked. @throws ApiError as {@link decide}, and 403 when it has stopped waiting since */
  async identity(user: User, asked: WorkspaceRequest): Promise<User> {
    const { phase, workspaces } = this.#options;
    const found = await workspaces.find(asked);
    if (found === undefined)
      throw ApiError.forbidden({ resource: { group: "", resource: "" }, message: this.#refusal(asked.params) });
    if (phase.asOwner && (await this.#rules(asked)).length === 0) return ownerOf(found);
    return phase.as(user, asked.params);
  }

  /** None: whatever the owner may, or nothing. */
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
      `the workspace type of the ${phase.holder} ${quote(holder)} cannot be found: nobody knows what it may do`,
    );
  }

  #refusal({ holder }: LifecycleParams): string {
    return `${this.#options.phase.holder} ${quote(holder)} cannot access this workspace`;
  }
}

/** @throws ApiError 500 */
function ownerOf({ spec: { createdBy } }: LogicalCluster): User {
  if (createdBy === undefined)
    throw ApiError.internalError("the LogicalCluster says nothing of whom it was created by (spec.createdBy)");
  const { username: name = "", uid = "", groups = [], extra = {} } = createdBy;
  return new User({ name, uid, groups, extra });
}

/** Where the workspaces are. */
interface ContentRelayOptions {
  readonly upstream: Upstream;
  readonly content: Content;
  readonly onError: (error: unknown) => void;
}

type Handlers = Required<Pick<VirtualWorkspace<LifecycleParams>, "handle" | "upgrade">>;

const CLUSTERS = "/clusters/";

/** Passes requests on to the workspace that they are about, as whom {@link Content.identity} says. */
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
