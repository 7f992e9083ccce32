import type { AdmitRequest } from "@virtual-workspaces/framework";
import {
  clusterOf,
  type LogicalCluster,
  TENANCY_GROUP,
  type Workspace,
  type WorkspaceType,
  type WorkspaceTypeReference,
} from "@virtual-workspaces/kcp";
import { notRunning } from "../../state/unavailable.ts";
import {
  joined,
  limitProblems,
  pathOf,
  qualifiedName,
  TypeProblem,
  together,
  WorkspaceTypes,
} from "../model/workspace-types.ts";
import { type AdmissionContext, NO_LOGICAL_CLUSTER, refused, typeNameOf, writtenCluster } from "./admission-context.ts";

/** Types in admission: resolves the type of a new workspace and checks its use. */
export class TypeAdmission {
  readonly #context: AdmissionContext;
  readonly #types: WorkspaceTypes;

  constructor(context: AdmissionContext) {
    this.#context = context;
    this.#types = new WorkspaceTypes(context.shard.registry);
  }

  /** Returns the LogicalCluster around a new workspace. @throws ApiError 403 */
  parent(request: AdmitRequest): LogicalCluster {
    const parent = this.#context.shard.state.logicalCluster(writtenCluster(request));
    if (parent === undefined) throw refused(request, `workspace type cannot be resolved: ${NO_LOGICAL_CLUSTER}`);
    return parent;
  }

  /** Fills in the type of a new workspace, with its path and labels, in place. @throws ApiError 403, 503 */
  fill(workspace: Workspace, request: AdmitRequest): void {
    const { spec, metadata } = workspace;
    const parent = this.parent(request);
    // Without a type or a type name the default applies.
    const asked = spec.type?.name ? spec.type : this.#default(parent, request);
    const type = this.#told(request, () => this.#types.find(pathOf(parent), asked));
    spec.type = { name: asked.name, path: asked.path || pathOf(type) };
    const labels = type.spec?.additionalWorkspaceLabels ?? {};
    if (Object.keys(labels).length > 0) metadata.labels = { ...labels, ...metadata.labels };
  }

  /** Returns the type of a new workspace and all types it extends. @throws ApiError 403, 503 */
  aliases({ spec }: Workspace, request: AdmitRequest): readonly WorkspaceType[] {
    const asked = spec.type as WorkspaceTypeReference;
    return this.#told(request, () => this.#types.aliases(this.#types.find(writtenCluster(request), asked)));
  }

  /** Checks that the caller may use all these types. @throws ApiError 403 */
  async checkUse(aliases: readonly WorkspaceType[], request: AdmitRequest): Promise<void> {
    for (const alias of aliases) await this.#checkUse(alias, request);
  }

  /** Checks the limits on parent and child types. @throws ApiError 403, 503 */
  checkLimits({ spec }: Workspace, aliases: readonly WorkspaceType[], request: AdmitRequest): void {
    const asked = spec.type as WorkspaceTypeReference;
    const name = typeNameOf(this.parent(request), request);
    const parentType = this.#told(request, () => this.#types.get(name), "workspace type cannot be resolved: ");
    const parent = { name, aliases: this.#told(request, () => this.#types.aliases(parentType)) };
    const problems = limitProblems(parent, { name: joined(asked.path ?? "", asked.name), aliases });
    if (problems.length > 0) throw refused(request, together(problems));
  }

  #default(parent: LogicalCluster, request: AdmitRequest): WorkspaceTypeReference {
    const name = typeNameOf(parent, request);
    const type = this.#told(request, () => this.#types.get(name), "parent type cannot be resolved: ");
    const asked = type.spec?.defaultChildWorkspaceType;
    // The placeholders are kcp's.
    if (asked === undefined)
      throw refused(request, "spec.defaultChildWorkspaceType of workspace type %s:%s must be set");
    return asked;
  }

  async #checkUse(type: WorkspaceType, request: AdmitRequest): Promise<void> {
    const of = { group: TENANCY_GROUP, version: "v1alpha1", resource: "workspacetypes" };
    const access = { ...of, verb: "use", name: type.metadata.name ?? "" };
    const name = qualifiedName(type);
    let isAllowed: boolean;
    try {
      isAllowed = await this.#context.isAllowed(request.user, clusterOf(type), access);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw refused(request, `unable to determine access to workspace type ${name}: ${why}`);
    }
    if (isAllowed) return;
    throw refused(request, `unable to use workspace type ${name}: missing verb='use' permission on workspacetype`);
  }

  /** Maps a type problem to 403, or to 503 while the type may be on a shard that does not run. */
  #told<R>(request: AdmitRequest, find: () => R, before = ""): R {
    try {
      return find();
    } catch (error) {
      if (!(error instanceof TypeProblem)) throw error;
      if (error.isMissing && this.#context.shard.registry.missing.length > 0) throw notRunning();
      throw refused(request, `${before}${error.message}`);
    }
  }
}
