import {
  ApiError,
  type DeleteQuery,
  managerOf,
  parseWriteOptions,
  type WriteQuery,
  type WriteQueryRules,
} from "@virtual-workspaces/apimachinery";
import { groupResourceOf } from "../definition.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../served.ts";
import type { WriteRequest } from "../write/request.ts";
import type { Part } from "../write/update.ts";
import { requestOptions, scopeOf } from "./scope.ts";

/** Reads the options of a write. Only objects of one logical cluster can be written; reviews are none. */
export function writeQuery(exchange: Exchange, { definition }: ServedResource, rules: WriteQueryRules): WriteQuery {
  if (exchange.cluster === "*" && exchange.review === undefined) {
    const verb = `${exchange.info.verb} in the \`*\` logical cluster`;
    throw ApiError.methodNotAllowed(groupResourceOf(definition), verb);
  }
  return parseWriteOptions(exchange.search === "" ? NOTHING : exchange.query, rules);
}

const NOTHING = new URLSearchParams();

/** What a request comes to for the writer. */
export function writeRequest(
  exchange: Exchange,
  { admit }: ServedResource,
  query: Pick<WriteQuery, "dryRun"> & Partial<WriteQuery> & Partial<DeleteQuery>,
): Omit<WriteRequest, "part"> & { readonly part: Part } {
  const { dryRun, fieldManager = "", fieldValidation = "Warn" } = query;
  const part = exchange.info.subresource as Part;
  return {
    scope: scopeOf(exchange),
    options: {
      ...requestOptions(exchange),
      dryRun,
      fieldManager: managerOf(fieldManager, exchange.req.headers["user-agent"]),
      fieldValidation,
      ...(part === "status" ? { subresource: part } : {}),
    },
    part,
    admit,
  };
}
