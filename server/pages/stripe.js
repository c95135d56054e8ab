// The card goes from Stripe's frame to Stripe, which gives a payment method for it. The form sends that alone.
(function () {
	var form = document.getElementById('payment'), place = document.getElementById('card');
	var button = form.querySelector('button.pay'), problem = document.getElementById('card-problem');
	function say(text) { problem.textContent = text || ''; }
	function wait(is) {
		button.disabled = is;
		button.ariaBusy = is;
	}
	function broken() {
		say(place.dataset.broken);
		button.disabled = true;
	}
	if (!window.Stripe) { return broken(); }
	var stripe, card, look = getComputedStyle(place);
	try {
		stripe = Stripe(form.dataset.stripeKey, {locale: document.documentElement.lang});
		card = stripe.elements().create('card', {disableLink: true, style: {base: {color: look.color, fontSize: look.fontSize}}});
		card.mount(place);
	} catch (e) { return broken(); }
	card.on('change', function (event) { say(event.error && event.error.message); });
	window.addEventListener('pageshow', function () { wait(false); });
	function add(name, value) { // in the place of what was sent before: a browser may bring the page back as it was
		var input = form.querySelector('input[name=' + name + ']') || document.createElement('input');
		input.type = 'hidden'; input.name = name; input.value = value;
		form.appendChild(input);
	}
	function misses() { // something that has to be filled in: the answer says what, and Stripe need not be asked for that
		return [].some.call(form.elements, function (field) { return field.validity.valueMissing; });
	}
	function typed(name) { return form.elements[name] && form.elements[name].value.trim() || undefined; }
	form.addEventListener('submit', function (event) {
		if (event.defaultPrevented || event.submitter && event.submitter.value === 'update') { return; }
		event.preventDefault();
		if (button.disabled) { return; }
		if (misses()) {
			add('do', 'pay');
			return form.submit();
		}
		var shown = form.elements.shown, seen = shown && shown.value; // the total may be counted anew while Stripe is asked
		wait(true);
		say('');
		stripe.createPaymentMethod({type: 'card', card: card, billing_details: {email: typed('email'), name: typed('name')}}).then(function (result) {
			if (result.error) { throw result.error; }
			add('payment_method', result.paymentMethod.id);
			add('do', 'pay');
			if (shown) { shown.value = seen; }
			form.submit();
		}).catch(function (error) {
			say(error && error.message || place.dataset.refused);
			wait(false);
		});
	});
})();
