import { describeStore } from "../../store/contract/describe-store.ts";
import { EtcdCluster, etcdThere, versions } from "../support/etcd.ts";

for (const version of versions)
  describe(`etcd ${version}`, () => {
    let cluster: EtcdCluster;

    before(async function () {
      await etcdThere(version).call(this);
      cluster = await EtcdCluster.start({ version });
    });
    after(() => cluster?.[Symbol.asyncDispose]());

    describeStore(`the store in etcd ${version}`, {
      durable: true,
      histories: 20,
      largestValue: 1_400_000, // etcd takes 1.5 MiB with everything around it
      open: async () => {
        const prefix = cluster.prefix();
        let store = await cluster.store({ prefix });
        return {
          store,
          reopen: async () => {
            await store[Symbol.asyncDispose]();
            await cluster.kill();
            cluster.launch();
            store = await cluster.store({ prefix });
            return store;
          },
          close: async () => store[Symbol.asyncDispose](),
        };
      },
    });
  });
