import type { ObjectAddress } from "../api/objects.ts";
import type { WholeObject } from "../object/live-object.ts";
import { Lazy } from "../ui/lazy.tsx";

interface PartProps {
  readonly address: ObjectAddress;
  readonly object: WholeObject;
}

/** The part of kcp of the page of an object. Its program is loaded when it is first shown. */
export function KcpPart({ address, object }: PartProps) {
  return (
    <Lazy
      key={JSON.stringify(address)}
      load={() => import("./part.tsx").then((module) => module.KcpPart)}
      with={{ address, object }}
    />
  );
}
