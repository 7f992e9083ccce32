import type { Admit, ServedResource } from "@virtual-workspaces/framework";
import {
  APIBinding,
  APIBindingV1alpha1,
  APIConversion,
  APIExport,
  APIExportEndpointSlice,
  APIExportV1alpha1,
  APIResourceSchema,
  olderApiBindings,
  olderApiExports,
} from "@virtual-workspaces/kcp";
import type { Bindings } from "../bindings/bindings.ts";
import { admitInOrder } from "../state/admission.ts";
import type { ShardObjects } from "../state/objects.ts";

/** The kinds of apis.kcp.io, exports and bindings in both versions, each with its own admission before that of all. */
export function apiKinds(
  objects: ShardObjects,
  { admit, bindings }: { readonly admit: Admit; readonly bindings: Pick<Bindings, "admission"> },
): readonly ServedResource[] {
  const { apiExport, apiBinding, apiResourceSchema, apiExportEndpointSlice } = bindings.admission;
  const served = (own: Admit): { readonly admit: never } => ({ admit: admitInOrder(own, admit) as never });
  const [exports, bound] = [objects.of(APIExport), objects.of(APIBinding)];
  return [
    APIExport.serve(exports, served(apiExport)),
    APIExportV1alpha1.serve(olderApiExports(exports), served(apiExport)),
    APIBinding.serve(bound, served(apiBinding)),
    APIBindingV1alpha1.serve(olderApiBindings(bound), served(apiBinding)),
    APIResourceSchema.serve(objects.of(APIResourceSchema), served(apiResourceSchema)),
    APIExportEndpointSlice.serve(objects.of(APIExportEndpointSlice), served(apiExportEndpointSlice)),
    APIConversion.serve(objects.of(APIConversion), { admit: admit as never }),
  ];
}
