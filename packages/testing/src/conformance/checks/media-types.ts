/** What clients say in `Accept`. */
export const JSON_TYPE = "application/json";
export const YAML_TYPE = "application/yaml";
export const PROTOBUF = "application/vnd.kubernetes.protobuf";
export const CBOR = "application/cbor";

const META = "g=meta.k8s.io;v=v1";
/** kubectl get. */
export const TABLE: string = `application/json;as=Table;${META}`;
/** One object's metadata, also in watches. */
export const PARTIAL: string = `application/json;as=PartialObjectMetadata;${META}`;
export const PARTIAL_LIST: string = `application/json;as=PartialObjectMetadataList;${META}`;
/** What Go's metadata clients say, which prefer protobuf. */
export const METADATA_CLIENT: string = `${PROTOBUF};as=PartialObjectMetadata;${META},${PARTIAL},${JSON_TYPE}`;
export const METADATA_CLIENT_LIST: string = `${PROTOBUF};as=PartialObjectMetadataList;${META},${PARTIAL_LIST},${JSON_TYPE}`;
