import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject } from "@virtual-workspaces/apimachinery";
import type { Awaitable } from "../../util/awaitable.ts";
import { siblingModule } from "../../util/worker/pool.ts";
import {
  type AuthorizeRequest,
  type Authorizer,
  allow,
  type Decision,
  deny,
  type Rules,
  type RulesRequest,
} from "../authorization.ts";
import { checkedObject } from "./check-rbac.ts";
import { aggregate, grantedRules, ruleAllows } from "./matches.ts";
import type { RbacObject } from "./objects.ts";
import { RbacPolicy } from "./policy.ts";

/** Source of the roles and bindings of {@link rbac}, in one of these forms. */
export type RbacSource<Params = unknown> =
  | { readonly objects: Iterable<RbacObject> }
  /** File of YAML or JSON, with any number of documents and lists, or a folder of such files. Read once. */
  | { readonly file: string }
  | {
      /**
       * Policy that changes, or a function that finds the policy of a request, by its logical cluster for example; without a
       * policy the request is denied.
       */
      readonly policy: RbacPolicy | ((request: PolicyRequest<Params>) => Awaitable<RbacPolicy | undefined>);
    };

/** Request to find a policy for. */
export interface PolicyRequest<Params> {
  readonly params: Params;
  readonly signal: AbortSignal;
}

/**
 * Authorizes by roles and bindings, exactly as Kubernetes' RBAC authorizer: Role, ClusterRole (including aggregated ones),
 * RoleBinding and ClusterRoleBinding of `rbac.authorization.k8s.io/v1`. A user without bindings may do nothing; there are no
 * built-in roles, and `system:masters` is an ordinary group. Non-resource URLs are paths below the view (`/apis`). A binding
 * to a missing role grants nothing, and the 403 says so, as in Kubernetes.
 *
 * @throws Error on an object that Kubernetes would reject, naming its fields, and on a file that cannot be read
 *
 * @example
 * ```ts
 * import { rbac } from "@virtual-workspaces/framework/authz";
 *
 * const authorize = rbac({
 *   objects: [
 *     {
 *       apiVersion: "rbac.authorization.k8s.io/v1",
 *       kind: "ClusterRole",
 *       metadata: { name: "reader" },
 *       rules: [{ apiGroups: ["example.dev"], resources: ["books"], verbs: ["get", "list", "watch"] }],
 *     },
 *     {
 *       apiVersion: "rbac.authorization.k8s.io/v1",
 *       kind: "ClusterRoleBinding",
 *       metadata: { name: "readers" },
 *       roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
 *       subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: "readers" }],
 *     },
 *   ],
 * });
 * ```
 * @see docs/how-to/authorization.md
 */
export function rbac<Params = unknown>(source: RbacSource<Params>): Authorizer<Params> {
  const find = finder(source);
  const authorizer = (request: AuthorizeRequest<Params>): Awaitable<Decision> => {
    const policy = find(request);
    return policy instanceof Promise ? policy.then((found) => decideBy(found, request)) : decideBy(policy, request);
  };
  return Object.assign(authorizer, {
    rules: async (request: RulesRequest<Params>) => rulesOf(await find(request), request),
  });
}

type Find<Params> = (request: PolicyRequest<Params>) => Awaitable<RbacPolicy | undefined>;

function finder<Params>(source: RbacSource<Params>): Find<Params> {
  if ("policy" in source) {
    const { policy } = source;
    return typeof policy === "function" ? policy : () => policy;
  }
  const policy = new RbacPolicy("file" in source ? readObjects(source.file) : source.objects);
  return () => policy;
}

function decideBy(policy: RbacPolicy | undefined, request: AuthorizeRequest<unknown>): Decision {
  const missing: string[] = [];
  for (const { rules } of policy?.grants(request.user, request.isResource ? request.namespace : "") ?? []) {
    if (typeof rules === "string") missing.push(rules);
    else if (rules.some((rule) => ruleAllows(rule, request))) return allow();
  }
  return deny(missing.length === 0 ? "" : `RBAC: ${aggregate(missing)}`);
}

function rulesOf(policy: RbacPolicy | undefined, { user, namespace }: RulesRequest<unknown>): Rules {
  return grantedRules(policy?.grants(user, namespace) ?? []);
}

/** Limit of a file's text in bytes; large, since the operator writes the files. */
const MAX_BYTES = 64 * 2 ** 20;

/** Returns the objects of a file, or of a folder's files by name. @throws Error that names the file and the document */
function readObjects(path: string): readonly RbacObject[] {
  const files = statSync(path).isDirectory() ? filesIn(path) : [path];
  return files.flatMap((file) => documents(file).flatMap(({ value, place }) => objectsIn(value, place)));
}

function filesIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/i.test(name));
  if (names.length === 0)
    throw new Error(
      `rbac: no .yaml, .yml or .json file in folder ${folder}: name a file, or a folder that contains one`,
    );
  return names.sort().map((name) => join(folder, name));
}

interface Document {
  readonly value: unknown;
  readonly place: string;
}

function documents(file: string): readonly Document[] {
  const { parseYaml } = yaml();
  let lines = 0;
  return readFileSync(file, "utf8")
    .split(/^---(?=\s|$)/m)
    .flatMap((text, at) => {
      // Prepends as many empty lines as precede the document, so that errors name the line of the file.
      const padded = "\n".repeat(lines) + text;
      lines += text.split("\n").length - 1;
      const place = `${file}, document ${at + 1}`;
      const { value, duplicates } = named(place, () => parseYaml(padded, MAX_BYTES));
      if (duplicates.length > 0) throw new Error(`rbac: ${place}: ${duplicates.join("; ")}`);
      return value === undefined || value === null ? [] : [{ value, place }];
    });
}

/** Returns the objects of any kind of list. */
function objectsIn(value: unknown, place: string): readonly RbacObject[] {
  if (!isJsonObject(value) || !Array.isArray(value["items"])) return [named(place, () => checkedObject(value))];
  const kind = String(value["kind"]);
  return value["items"].map((item: unknown, at) =>
    named(`${place}, items[${at}]`, () => checkedObject(typed(item, kind))),
  );
}

/** Items of a RoleList may omit kind and apiVersion. */
function typed(item: unknown, list: string): unknown {
  if (!isJsonObject(item) || item["kind"] !== undefined || list === "List") return item;
  return { ...item, kind: list.replace(/List$/, "") };
}

function named<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`rbac: ${place}: ${message.replace(/^rbac: /, "")}`, { cause: error });
  }
}

/** Loaded with the first file, because the library is slow to load. */
function yaml(): typeof import("../../body/yaml/parse.ts") {
  const file = fileURLToPath(siblingModule("../../body/yaml/parse", import.meta.url));
  return createRequire(import.meta.url)(file) as typeof import("../../body/yaml/parse.ts");
}
