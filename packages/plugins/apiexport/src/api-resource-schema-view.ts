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

/** Resources of a workspace without bindings, or on another shard: none. */
const NOTHING: readonly ServedResource[] = Object.freeze([]);

/**
 * Returns kcp's view of the APIResourceSchemas that a workspace has bound, `/services/apiresourceschema/<logical cluster>`,
 * optionally followed by `/clusters/<the same, or *>`. It shows the schemas of the exports of its bindings, on any shard, for reads
 * and watches. It is for users who need the schema of an API that a workspace uses: a user with access to its APIBindings may read
 * it, without any rights at the provider.
 *
 * The view calls the workspaces of one shard as one of its administrators. Beside {@link apiExportView}, pass the same {@link
 * ApiModel} to both. The view is ready after reading exports, schemas and bindings.
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

/** Parameters in the path of the view. */
interface ConsumerParams {
  readonly cluster: string;
}

/** Authorizer of the bound schemas, with resources to dispose. */
interface SchemaAccess extends AsyncDisposable {
  readonly authorize: Authorizer<ConsumerParams>;
}

const READ: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const NO: Decision = deny("access denied");
/** Interval for the authorization of open watches, in ms. */
const EVERY = 1_000;

/**
 * Authorizes users who may get all APIBindings of a workspace to read the bound schemas (kcp's `apiResourceSchemaAuthorizer`),
 * although those are in workspaces of providers. Security: callers learn no reason for a denial.
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
