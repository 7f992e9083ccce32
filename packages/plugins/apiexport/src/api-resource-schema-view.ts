import { subjectAccessReview } from "@virtual-workspaces/forwarding";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { APIResourceSchema, APIS_GROUP } from "@virtual-workspaces/kcp";
import { MASTERS_GROUP } from "@virtual-workspaces/kcp/users";
import { located } from "./access.ts";
import { ApiModel } from "./model/api-model.ts";
import type { ApiResourceSchemaViewOptions } from "./options.ts";
import { BoundSchemas } from "./schemas/bound-schemas.ts";

/** Nothing that a workspace without bindings, or of another shard, has. */
const NOTHING: readonly ServedResource[] = Object.freeze([]);

/**
 * kcp's view of the APIResourceSchemas that a workspace has bound, `/services/apiresourceschema/<logical cluster>`, with or without
 * `/clusters/<the same, or *>` behind: what the exports of its bindings name, wherever that is, to read and to watch. For
 * those who must know what an API looks like that a workspace uses: whoever may get its APIBindings, says the workspace,
 * may read that, and need not be known to any provider.
 *
 * Over the workspaces of one shard, asked as one of its administrators. Beside {@link apiExportView} give both one
 * {@link ApiModel}. Ready once exports, schemas and bindings have been read.
 */
export function apiResourceSchemaView(options: ApiResourceSchemaViewOptions): VirtualWorkspace {
  const { upstream, model = new ApiModel(options), onError = warn } = options;
  const access = schemaAccess({ ...options, onError });
  const schemas = new BoundSchemas({ model, upstream, onError });
  const served = [APIResourceSchema.serve(schemas, { verbs: ["get", "list", "watch"] })];
  return defineVirtualWorkspace({
    name: "apiresourceschema",
    path: "/:cluster",
    clusterSuffix: true,
    locate: (cluster, { user }) => located(cluster, user),
    authorize: access.authorize,
    resources: ({ params }) => (model.bindings(params.cluster).length > 0 ? served : NOTHING),
    ready: () => model.synced(),
    setup: () => {
      const held = model.hold();
      return {
        [Symbol.asyncDispose]: async () => {
          await held[Symbol.asyncDispose]();
          await access[Symbol.asyncDispose]();
        },
      };
    },
  });
}

function warn(error: unknown): void {
  process.emitWarning(`view of bound APIResourceSchemas: ${String(error)}`);
}

/** What the path of the view says: whose bindings count. */
interface ConsumerParams {
  readonly cluster: string;
}

/** Who may read what a workspace has bound, and whom to dispose of. */
interface SchemaAccess extends AsyncDisposable {
  readonly authorize: Authorizer<ConsumerParams>;
}

const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const NO: Decision = deny("access denied");
/** How often open watches are asked about, ms. */
const EVERY = 1_000;

/**
 * Whoever may get any binding of a workspace, says the workspace, may read the schemas of what is bound there (kcp's
 * `apiResourceSchemaAuthorizer`), though those are in the workspaces of providers who do not know them. Why a workspace
 * says no, no caller is told.
 */
function schemaAccess({ upstream, allowCache, onError }: ApiResourceSchemaViewOptions): SchemaAccess {
  const bindings = subjectAccessReview<ConsumerParams>({
    upstream,
    ...(allowCache !== undefined && { allowCache }),
    ...(onError !== undefined && { onError }),
    attributes: () => ({ verb: "get", group: APIS_GROUP, version: "v1alpha2", resource: "apibindings" }),
  });
  const authorize = async (request: AuthorizeRequest<ConsumerParams>): Promise<Decision> => {
    if (request.user.in(MASTERS_GROUP)) return allow();
    if (!READ.has(request.verb)) return NO;
    return (await bindings(request)).allowed ? allow() : NO;
  };
  return {
    authorize: Object.assign(authorize, { watchesEvery: EVERY }),
    [Symbol.asyncDispose]: () => bindings[Symbol.asyncDispose](),
  };
}
