/**
 * Tests for Kubernetes-style API servers: a conformance suite that runs against any URL, and the tools to test a view.
 *
 * @module
 */

// A server to test clients and views on
export type { Fault, FaultEffect, FaultOptions, Faults } from "./api-server/faults.ts";
export type { WatchEnd } from "./api-server/open-watches.ts";
export type {
  ManifestSource,
  Manifests,
  TestServerOptions,
  TestUserOptions,
  ViewOverWorkspaces,
} from "./api-server/options.ts";
export type {
  RecordedRequest,
  RecordedRequests,
  RecordedRequestsOptions,
} from "./api-server/recorded-requests.ts";
export type { RequestMatch } from "./api-server/request-match.ts";
export type { TestClock } from "./api-server/test-clock.ts";
export type { TestServer } from "./api-server/test-server.ts";
export type { TestUser } from "./api-server/test-user.ts";
export type { FailureDetails } from "./assertions/expect.ts";
export type { CheckOutcome, CheckResult, ConformanceReport, ConformanceResource } from "./assertions/report.ts";
export { type CleanOptions, type CleanReport, cleanConformance } from "./conformance/clean.ts";
export { type PrintOptions, printConformance } from "./conformance/print.ts";
export { runConformance } from "./conformance/run.ts";
// A source to test a view or a storage with
export {
  type FakeContent,
  type FakeName,
  FakeSource,
  type FakeSourceCounts,
  type FakeSourceOptions,
} from "./fake-source.ts";
export type { Credentials } from "./http/credentials.ts";
// The conformance suite
export {
  type ConformanceDeadlines,
  type ConformanceOptions,
  type ConformanceWrites,
  type Mutations,
  matchResources,
  type ObjectName,
} from "./probe/options.ts";
// Checks of space providers
export { checkSpaceProvider } from "./space-provider/check-space-provider.ts";
export type { SpaceProviderCheckOptions, SpaceProviderDeadlines } from "./space-provider/provider-options.ts";
export { startTestServer } from "./start-test-server.ts";
export type { TestViewServer, TestViewServerOptions } from "./view-server.ts";
export { parseSamples } from "./writing/samples.ts";
export { newRun } from "./writing/writer.ts";
