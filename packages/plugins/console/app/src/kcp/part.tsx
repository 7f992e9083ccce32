import "../object/object.css";
import "./kcp.css";
import { liveObject } from "../api/live-list.ts";
import { collectionPath, type ObjectAddress } from "../api/objects.ts";
import type { KubernetesObject } from "../api/types.ts";
import type { WholeObject } from "../object/live-object.ts";
import { Problem } from "../ui/problem.tsx";
import { BindingPart } from "./binding/binding-part.tsx";
import { ExportPart } from "./export/export-part.tsx";
import { BINDINGS, EXPORTS } from "./kinds.ts";
import { kcpPartOf } from "./part-of.ts";
import { ShardPart } from "./shard-part.tsx";
import { texts } from "./texts.ts";
import { TypePart } from "./type-part.tsx";
import { UrlsPart } from "./urls-part.tsx";

interface PartProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

/** Part of the page of an object that only kinds of kcp have. */
export function KcpPart({ address, object }: PartProps) {
  const part = kcpPartOf(address.resource);
  return (
    <div class="summary kcp">
      {part === "export" && <InVersion address={address} object={object} id={EXPORTS} Part={ExportPart} />}
      {part === "binding" && <InVersion address={address} object={object} id={BINDINGS} Part={BindingPart} />}
      {part === "type" && <TypePart type={object} workspace={address.workspace} />}
      {part === "shard" && <ShardPart shard={object} />}
      {part === "urls" && <UrlsPart object={object} />}
    </div>
  );
}

interface InVersionProps<T> extends PartProps {
  readonly id: ObjectAddress["resource"];
  readonly Part: (props: { readonly workspace: string; readonly object: T }) => preact.JSX.Element;
}

/** The object in the version that a part reads, whatever version the page shows. */
function InVersion<T extends KubernetesObject>({ address, object, id, Part }: InVersionProps<T>) {
  const { workspace } = address;
  if (address.resource.version === id.version) return <Part workspace={workspace} object={object as unknown as T} />;
  const { items, error } = liveObject<T>(collectionPath({ ...address, resource: id }), address.name).value;
  const [found] = items;
  if (found !== undefined) return <Part workspace={workspace} object={found} />;
  return error === undefined ? <p class="muted">{texts.loading}</p> : <Problem error={error} />;
}
