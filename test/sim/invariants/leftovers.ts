/**
 * What stays behind. I1: what had become of an environment when its Bundle was Superseded is kept in the Bundle when the PromotionStep goes. I14: at the end no Graph and no
 * PromotionStep exists without its owner, and a Superseded Bundle has no Graph any more. And no retry is put off by more than half a minute.
 */
import type { Bundle } from '../../../src/api/kinds/bundle.ts';
import type { Resource } from '../../../src/api/meta.ts';
import type { KindName } from '../../../src/api/registry.ts';
import type { Change } from '../store-core.ts';
import { asBundle, asStep } from './commits.ts';
import type { Observer, Scene } from './observer.ts';

/** The longest wait before a step is tried again, in milliseconds. */
const RETRY_MS = 30_000;

/** Watches what is left. */
export const leftoverInvariants = (scene: Scene): Observer => {
  const { core } = scene;
  /** UIDs of Graphs by that of the Bundle that owns them; kept when they are gone. */
  const bundleOfGraph = new Map<string, string>();
  /** How much of its journal was durable in each PromotionStep when its Bundle's Superseded became durable: a write that lands later cannot be asked for. */
  const durable = new Map<string, number>();
  const bundles = () => [...core.all('Bundle').values()].map(asBundle);

  const ownerOf = (object: Resource): string => object.metadata.ownerReferences?.[0]?.uid ?? '';

  const ownerBundle = (step: Resource): Bundle | undefined => {
    const uid = bundleOfGraph.get(ownerOf(step));
    return bundles().find((bundle) => bundle.metadata.uid === uid);
  };

  const stepGone = (change: Change): void => {
    const step = asStep(change.before ?? change.object);
    const bundle = ownerBundle(step);
    const had = durable.get(step.metadata.uid ?? '') ?? 0;
    if (!bundle || bundle.metadata.deletionTimestamp || had === 0 || scene.wiped()) return;
    const record = bundle.status?.environments?.find((candidate) => candidate.name === step.spec?.environment);
    if ((record?.transitions.length ?? 0) >= had) return;
    scene.report({
      invariant: 'I1',
      message: `${step.metadata.name} is gone; of its ${had} transitions the record of ${bundle.metadata.name} has ${record?.transitions.length ?? 0}`,
    });
  };

  const superseded = (bundle: Bundle): void => {
    for (const step of [...core.all('PromotionStep').values()].map(asStep)) {
      if (bundleOfGraph.get(ownerOf(step)) === bundle.metadata.uid)
        durable.set(step.metadata.uid ?? '', step.status?.transitions?.length ?? 0);
    }
  };

  const retries = (change: Change): void => {
    const before = change.before && asStep(change.before).status?.steps;
    for (const [index, record] of (asStep(change.object).status?.steps ?? []).entries()) {
      if (record.nextTryAt === undefined || record.nextTryAt === before?.[index]?.nextTryAt) continue;
      const wait = Date.parse(record.nextTryAt) - scene.now();
      if (wait > RETRY_MS)
        scene.report({ invariant: 'I14', message: `${change.object.metadata.name}: ${record.name} is put off by ${wait / 1000}s` });
    }
  };

  const uids = (kind: KindName): ReadonlySet<string> => new Set([...core.all(kind).values()].map((object) => object.metadata.uid ?? ''));

  const orphans = (kind: KindName, owners: KindName): void => {
    const present = uids(owners);
    for (const object of core.all(kind).values()) {
      if (!present.has(ownerOf(object)))
        scene.report({ invariant: 'I14', message: `${kind} ${object.metadata.name} is left without its owner` });
    }
  };

  return {
    changed: (change) => {
      if (change.kind === 'Graph') bundleOfGraph.set(change.object.metadata.uid ?? '', ownerOf(change.object));
      if (change.kind === 'Bundle' && asBundle(change.object).status?.phase === 'Superseded') {
        const before = change.before && asBundle(change.before).status?.phase;
        if (before !== 'Superseded') superseded(asBundle(change.object));
      }
      if (change.kind !== 'PromotionStep') return;
      if (change.type === 'DELETED') stepGone(change);
      else retries(change);
    },
    ended: () => {
      orphans('Graph', 'Bundle');
      orphans('PromotionStep', 'Graph');
      for (const bundle of bundles().filter((candidate) => candidate.status?.phase === 'Superseded')) {
        const graph = [...core.all('Graph').values()].find((candidate) => ownerOf(candidate) === bundle.metadata.uid);
        if (graph) scene.report({ invariant: 'I14', message: `Bundle ${bundle.metadata.name} is Superseded and its Graph is still there` });
      }
    },
  };
};
