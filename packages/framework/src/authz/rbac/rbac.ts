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

/** Where {@link rbac} has its roles and bindings from: one of these. */
export type RbacSource<Params = unknown> =
  | { readonly objects: Iterable<RbacObject> }
  /** A file of YAML or JSON, with any number of documents and lists in it, or a folder of such files. Read once. */
  | { readonly file: string }
  | {
      /** One that changes, or a function that finds the policy of a request, by its logical cluster for one; none is a no. */
      readonly policy: RbacPolicy | ((request: PolicyRequest<Params>) => Awaitable<RbacPolicy | undefined>);
    };

/** What a policy is found by. */
export interface PolicyRequest<Params> {
  readonly params: Params;
  readonly signal: AbortSignal;
}

/**
 * Decides by roles and bindings, exactly as Kubernetes' RBAC authorizer: Role, ClusterRole (aggregated ones too),
 * RoleBinding and ClusterRoleBinding of `rbac.authorization.k8s.io/v1`. Whoever is bound to nothing may do nothing; there
 * are no built-in roles, and `system:masters` is a group like others. Non-resource URLs are paths below the view (`/apis`).
 * A binding to a role that is not there grants nothing, and says so in the 403, as in Kubernetes.
 *
 * @throws Error on an object that Kubernetes would not take, naming its fields, and on a file that cannot be read
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

/** How much a file's text may come to: files are the operator's own. */
const MAX_BYTES = 64 * 2 ** 20;

/** The objects in a file, or in the files of a folder, by name. @throws Error that names the file and the document */
function readObjects(path: string): readonly RbacObject[] {
  const files = statSync(path).isDirectory() ? filesIn(path) : [path];
  return files.flatMap((file) => documents(file).flatMap(({ value, place }) => objectsIn(value, place)));
}

function filesIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => /\.(ya?ml|json)$/i.test(name));
  if (names.length === 0) throw new Error(`rbac: there is no .yaml, .yml or .json file in ${folder}`);
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
      // As many empty lines as were before it, so that a fault names the line of the file.
      const padded = "\n".repeat(lines) + text;
      lines += text.split("\n").length - 1;
      const place = `${file}, document ${at + 1}`;
      const { value, duplicates } = named(place, () => parseYaml(padded, MAX_BYTES));
      if (duplicates.length > 0) throw new Error(`rbac: ${place}: ${duplicates.join("; ")}`);
      return value === undefined || value === null ? [] : [{ value, place }];
    });
}

/** A list's objects, of whatever kind of list. */
function objectsIn(value: unknown, place: string): readonly RbacObject[] {
  if (!isJsonObject(value) || !Array.isArray(value["items"])) return [named(place, () => checkedObject(value))];
  const kind = String(value["kind"]);
  return value["items"].map((item: unknown, at) =>
    named(`${place}, items[${at}]`, () => checkedObject(typed(item, kind))),
  );
}

/** Objects of a RoleList need not say what they are. */
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

/** Loaded with the first file: its library would take as long to load as much of the rest. */
function yaml(): typeof import("../../body/yaml/parse.ts") {
  const file = fileURLToPath(siblingModule("../../body/yaml/parse", import.meta.url));
  return createRequire(import.meta.url)(file) as typeof import("../../body/yaml/parse.ts");
}
