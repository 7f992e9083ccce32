import { ApiError, apiVersionOf, type KubeObject } from "@virtual-workspaces/apimachinery";
import { groupResourceOf, type ResourceDefinition } from "../definition.ts";
import type { Wanted } from "../encode/representation.ts";
import { respondSuccess } from "../encode/respond.ts";
import type { AuthorizedExchange } from "../exchange.ts";
import { deriveRequest } from "../request/derive-request.ts";
import type { ServedKind, ServedResource } from "../resource/served.ts";
import type { SubresourceAnswer, SubresourceWrite } from "../resource/subresources.ts";
import { checkKind, checkPlace } from "../write/identity.ts";
import { reporter, sentObject } from "./body.ts";
import { answerObject, wantedObject } from "./get.ts";
import { keyOf } from "./scope.ts";
import { subresourceRequest } from "./subresource-request.ts";
import { writeOptions, writeQuery } from "./write-request.ts";

/** Answers a request to a subresource with a kind of its own. */
export async function serveKind(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  served: ServedKind,
): Promise<void> {
  const { handlers } = served;
  const wanted = wantedObject(exchange);
  const { verb, name } = exchange.info;
  if (verb === "get") {
    const content = await handlers.get?.(await subresourceRequest(exchange, resource, handlers));
    if (content === undefined) throw ApiError.notFound(groupResourceOf(resource.definition), name);
    return answerKind(exchange, handlers.kind, { content, code: 200, wanted });
  }
  const request = await writeOf(exchange, resource, served);
  const content = await (verb === "create" ? handlers.create : handlers.update)?.(request);
  const code = verb === "create" ? 201 : 200;
  if (content === undefined) answerDone(exchange, resource, { code, wanted });
  else answerKind(exchange, handlers.kind, { content: content as SubresourceAnswer<object>, code, wanted });
}

/** Reads the body for the handler: of the kind, pruned, defaulted, valid. @throws ApiError 400, 404, 413, 415, 422 */
async function writeOf(
  exchange: AuthorizedExchange,
  resource: ServedResource,
  { handlers, rules }: ServedKind,
): Promise<SubresourceWrite<unknown, object>> {
  const { kind } = handlers;
  const { info } = exchange;
  const query = writeQuery(exchange, resource, { kind: info.verb === "create" ? "CreateOptions" : "UpdateOptions" });
  const request = await subresourceRequest(exchange, resource, handlers);
  const { object: body, findings } = await sentObject(exchange, kind, { check: checkKind });
  body.metadata.name ??= info.name;
  checkPlace(body, keyOf(exchange));
  const options = writeOptions(exchange, query);
  reporter(findings, kind, options)(rules.prune(body));
  rules.fillDefaults(body);
  const causes = await rules.problems(body, { before: undefined, part: "", request: { signal: exchange.signal } });
  if (causes.length > 0) throw ApiError.invalid({ kind, name: info.name, causes: [...causes] });
  const { dryRun, fieldManager, fieldValidation } = options;
  return deriveRequest(request, { body, dryRun, fieldManager, fieldValidation });
}

interface Answering {
  readonly code: 200 | 201;
  readonly wanted: Wanted;
}

/** Answers an object of the subresource's kind, under the parent object's name unless it has another. */
function answerKind(
  exchange: AuthorizedExchange,
  kind: ResourceDefinition,
  { content, ...answer }: Answering & { readonly content: SubresourceAnswer<object> },
): void {
  const { name, namespace } = keyOf(exchange);
  // Handlers may return an object of the kind unchanged.
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = content as Partial<KubeObject>;
  const object: KubeObject = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: { name, ...(namespace === "" ? {} : { namespace }), ...metadata },
    ...rest,
  };
  answerObject(exchange, { definition: kind }, { object, ...answer });
}

/** Answers a Status when the handler returns nothing, as Kubernetes answers a binding. */
function answerDone(exchange: AuthorizedExchange, { definition }: ServedResource, answer: Answering): void {
  const { info, res } = exchange;
  const { group, plural } = definition;
  const details = { name: info.name, ...(group === "" ? {} : { group }), kind: plural };
  exchange.answered = true;
  respondSuccess(res, { details, code: answer.code, format: answer.wanted.format });
}
