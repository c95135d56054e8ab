{
	const all = (s, page = document) => [...page.querySelectorAll(s)], [form] = all('#payment'), [update] = all('#payment [value=update]'), [pay] = all('.pay');
	const parts = '#totals, #waiver, .fold b, .goods .amount, .goods small, .pay span', needs = page => all('form, [autocomplete=cc-number], #card', page).length;
	const costly = 'fieldset:first-of-type :is(select, details input), .goods input';
	let last = 0;
	const count = async (typed, or) => {
		const mine = ++last, sent = [...all('#payment > input:not([name=payment_method], [name=do]), ' + costly), ...typed];
		try {
			const got = await fetch(form.action, {method: 'POST', body: new URLSearchParams([['do', 'count'], ...sent.map(i => [i.name, i.value])])});
			const page = new DOMParser().parseFromString(await got.text(), 'text/html'), its = all(parts, page), [shown, filled] = all('[name=shown], [name=filled]', page);
			if (mine !== last) return;
			if (!got.ok || !shown || all(parts).length !== its.length || needs() !== needs(page)) throw 0;
			all(parts).forEach((part, i) => part.isEqualNode(its[i]) || part.replaceChildren(...its[i].childNodes));
			form.shown.value = shown.value, form.filled.value = filled.value;
			update.hidden = true;
			sent.forEach(i => {
				i.ariaInvalid = null;
				all(`[id="${i.id}-problem"], li:has([href="#${i.id}"])`).forEach(s => s.remove());
			});
			all('.problems:not(:has(li))').forEach(s => { s.remove(); document.title = page.title; });
		} catch { mine === last && or(); }
	};
	update.hidden = true;
	onchange = e => e.target.matches(costly) && count([], () => update.hidden = false);
	form.addEventListener('submit', e => {
		const by = e.submitter, enters = by.value === 'enter', code = (enters ? document.activeElement : by).closest('.code');
		if (code) count(all('input', code), () => form.requestSubmit(update));
		if (code || enters && !form.reportValidity()) return e.preventDefault();
		pay.ariaBusy = by !== update;
	});
	onpageshow = () => pay.ariaBusy = null;
}
