// Kinds of apis.kcp.io.

export { APIBinding, APIBindingV1alpha1 } from "./apis/kinds/api-binding.ts";
export { APIConversion } from "./apis/kinds/api-conversion.ts";
export { APIExport, APIExportV1alpha1 } from "./apis/kinds/api-export.ts";
export { APIExportEndpointSlice } from "./apis/kinds/api-export-endpoint-slice.ts";
export { APIResourceSchema } from "./apis/kinds/api-resource-schema.ts";
