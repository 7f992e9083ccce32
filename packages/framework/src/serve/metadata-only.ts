import { ApiError } from "@virtual-workspaces/apimachinery";
import { parseAccept } from "../encode/accept.ts";
import { negotiate } from "../encode/negotiate.ts";
import type { Exchange } from "../exchange.ts";
import type { ServedResource } from "../resource/served.ts";
import type { Awaitable } from "../storage.ts";
import type { AskedResource, VirtualWorkspace } from "../virtual-workspace.ts";
import { type Asker, HookRequest } from "../hooks/hook-request.ts";

const FORMS = { list: "PartialObjectMetadataList", watch: "PartialObjectMetadata" } as const;
const KINDS = { list: "list", watch: "stream" } as const;

/** What a view serves of a resource to somebody who asks for metadata alone; `undefined` to everybody else. */
export function metadataResource(exchange: Exchange): Awaitable<ServedResource | undefined> {
  const { mounted, info } = exchange;
  const { verb, identity, subresource } = info;
  if (mounted.workspace.metadataOf === undefined || identity !== "" || subresource !== "") return undefined;
  if ((verb !== "list" && verb !== "watch") || !asksForMetadata(exchange.req.headers.accept)) return undefined;
  const { group, version, resource } = info;
  const found = viewMetadata(mounted.workspace, { group, version, resource }, exchange);
  return found instanceof Promise ? found.then((served) => taken(exchange, served)) : taken(exchange, found);
}

/** The one place that asks the hook. */
export function viewMetadata(
  { metadataOf }: Pick<VirtualWorkspace, "metadataOf">,
  asked: AskedResource,
  asker: Asker,
): Awaitable<ServedResource | undefined> {
  return metadataOf?.(asked, new HookRequest(asker));
}

/** As Kubernetes' negotiation is not asked: any clause tells what somebody is after. */
function asksForMetadata(accept: string | undefined): boolean {
  return (
    accept?.includes("PartialObjectMetadata") === true &&
    parseAccept(accept).some(({ parameters: { as } }) => as === FORMS.list || as === FORMS.watch)
  );
}

/** @throws ApiError 406 when the answer would be anything else */
function taken(exchange: Exchange, served: ServedResource | undefined): ServedResource | undefined {
  if (served === undefined) return undefined;
  const verb = exchange.info.verb as keyof typeof FORMS;
  const form = FORMS[verb];
  if (negotiate(exchange.req.headers.accept, KINDS[verb]).as !== form)
    throw ApiError.notAcceptable([`application/json;as=${form};g=meta.k8s.io;v=v1`]);
  exchange.metadataOnly = true;
  return served;
}
