import { ApiError } from "@virtual-workspaces/apimachinery";

/** 502: another server answers what is not passed on. Kubernetes knows no reason for that. */
export function badGateway(message: string): ApiError {
  return new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: 502 });
}
