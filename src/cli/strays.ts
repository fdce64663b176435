/** Bundles that name a Pipeline in their spec and do not carry its label: nothing promotes them, and a list of the Pipeline's Bundles misses them. */
import { labelValue } from '../api/names.ts';
import { PIPELINE_LABEL } from '../core/labels.ts';
import type { Store } from '../ports/store.ts';
import type { Terminal } from './wiring.ts';

const NAMED = 5;

/** Warns of them on standard error; looks in all namespaces when none is given, and says nothing when the server does not answer. */
export const warnOfStrays = async (store: Store, namespace: string | undefined, pipeline: string, terminal: Terminal): Promise<void> => {
  const list = await store.list('Bundle', { ...(namespace === undefined ? {} : { namespace }), labelSelector: `!${PIPELINE_LABEL}` });
  const strays = list.ok ? list.value.items.filter((bundle) => bundle.spec?.pipeline === pipeline) : [];
  if (strays.length === 0) return;
  const names = strays.slice(0, NAMED).map((bundle) => bundle.metadata.name);
  const more = strays.length > NAMED ? ` and ${strays.length - NAMED} more` : '';
  const [verb, lack] = strays.length === 1 ? ['names', 'has not'] : ['name', 'have not'];
  terminal.err(
    `warning: ${names.join(', ')}${more} ${verb} pipeline ${pipeline} and ${lack} the label ${PIPELINE_LABEL}=${labelValue(pipeline)}; nothing promotes what lacks it.\n`,
  );
};
