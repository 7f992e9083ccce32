import type { KindReference } from "@virtual-workspaces/apimachinery";
import { isRefusal } from "../../answers.ts";
import { API_BINDINGS, API_EXPORTS, ENDPOINT_SLICES } from "../../kinds.ts";
import type { Session } from "../../session.ts";

/** The APIs of a workspace: what it exports, where, and what it binds. What may not be read is left out. */
export async function detailsOf(session: Session, path: string): Promise<readonly string[]> {
  const list = async <T extends object>(kind: KindReference<T>) => {
    try {
      return (await session.client(path).resource(kind).all(session.patience)).items;
    } catch (error) {
      if (isRefusal(error)) return [];
      throw error;
    }
  };
  const [exports, slices, bindings] = await Promise.all([list(API_EXPORTS), list(ENDPOINT_SLICES), list(API_BINDINGS)]);
  return [
    ...section(
      "APIExports",
      exports.map(({ metadata }) => [metadata.name ?? ""]),
    ),
    ...section(
      "APIExportEndpointSlices",
      slices.map(({ metadata, spec, status }) => {
        const endpoints = status?.endpoints?.length ?? 0;
        const of = `${metadata.name} → ${exportText(spec?.export)}`;
        return [endpoints === 0 ? of : `${of} (${endpoints} ${endpoints === 1 ? "endpoint" : "endpoints"})`];
      }),
    ),
    ...section(
      "APIBindings",
      bindings.map(({ metadata, spec, status }) => [
        `${metadata.name} → ${exportText(spec.reference.export)}`,
        ...(status?.boundResources ?? []).map(
          ({ group, resource }) => `  └─ ${group === "" ? resource : `${resource}.${group}`}`,
        ),
      ]),
    ),
  ];
}

/** In kcp's way: a title with their number, then each with what belongs to it. */
function section(title: string, items: readonly (readonly string[])[]): readonly string[] {
  if (items.length === 0) return [];
  const lines = items.flatMap(([first = "", ...more]) => [`  • ${first}`, ...more.map((line) => `  ${line}`)]);
  return [`${title} (${items.length}):`, ...lines];
}

function exportText(of: { readonly path?: string | undefined; readonly name: string } | undefined): string {
  if (of === undefined) return "";
  return of.path ? `${of.path}:${of.name}` : of.name;
}
